-- purpose: tell whether a reward is still marked as due.
-- params:  $1 player, $2 event
-- result:  one row: true when it is due
-- locks:   none
select status <> 'applied' from reward_claim where player_id = $1 and reward_event_id = $2
