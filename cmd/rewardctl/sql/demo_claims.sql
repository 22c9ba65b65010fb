-- purpose: load rewards that are due in the demo and were not paid yet
-- params:  $1 player text[], $2 event text[], $3 kind text[], $4 amount bigint[]
-- result:  none
-- locks:   the rows it inserts
insert into reward_claim (player_id, reward_event_id, kind, amount, status)
select u.player, u.event, u.kind, u.amount, 'pending'
from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as u (player, event, kind, amount)
on conflict (player_id, reward_event_id) do nothing
