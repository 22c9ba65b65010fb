-- purpose: list what was applied, in the order of the keys.
-- params:  $1 the key after which to begin, text; $2 how many, bigint
-- result:  one row per key
-- locks:   none
select r.key, r.player_id, r.reward_event_id, r.kind, r.amount, r.fence_token, r.copies
from itemserver_receipt r
where r.key > $1::text
order by r.key
limit $2::bigint
