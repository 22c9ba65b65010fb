-- purpose: give the demo's item server what it has received in the demo's history
-- params:  $1 key text[], $2 player text[], $3 event text[], $4 kind text[], $5 amount bigint[],
--          $6 token bigint[]
-- result:  none
-- locks:   the rows it inserts
insert into itemserver_receipt (key, player_id, reward_event_id, kind, amount, fence_token)
select u.key, u.player, u.event, u.kind, u.amount, u.token
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
    as u (key, player, event, kind, amount, token)
on conflict (key) do nothing
