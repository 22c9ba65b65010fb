-- purpose: tell what was applied under a key, and how the player's fence stands.
-- params:  $1 key, text; $2 player, text
-- result:  one row; nulls for what is not there
-- locks:   none
select r.kind, r.amount, f.token
from (values (1)) as one (n)
left join itemserver_receipt r on r.key = $1::text
left join itemserver_fence f on f.player_id = $2::text
