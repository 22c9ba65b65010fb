-- purpose: record that a reward is due: what the drill expects to be paid once.
-- params:  $1 player, $2 event, $3 kind, $4 amount
-- result:  none
-- locks:   the claim's key
insert into reward_claim (player_id, reward_event_id, kind, amount)
values ($1, $2, $3, $4)
