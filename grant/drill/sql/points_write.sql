-- purpose: write a balance over whatever is there: right only for whoever holds it.
-- params:  $1 player, $2 kind, $3 the amount
-- result:  none
-- locks:   the balance row
update reward_balance set amount = $3, version = version + 1
where player_id = $1 and kind = $2
