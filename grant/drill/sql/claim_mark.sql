-- purpose: mark a reward as paid before it is, as a worker does that confirms its message first.
-- params:  $1 player, $2 event
-- result:  none
-- locks:   the claim row
update reward_claim set status = 'applied' where player_id = $1 and reward_event_id = $2
