-- purpose: find the first posting of an event.
-- params:  $1 player, $2 event
-- result:  one row: its id, token and owner
-- locks:   none
select id, fence_token, lease_owner
from reward_ledger
where player_id = $1 and reward_event_id = $2
order by id
limit 1
