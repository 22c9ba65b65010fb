-- purpose: mark a due reward as paid.
-- params:  $1 player, $2 event, $3 token
-- result:  none
-- locks:   the claim row
update reward_claim
set status = 'applied', fence_token = $3
where player_id = $1 and reward_event_id = $2
