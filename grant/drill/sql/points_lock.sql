-- purpose: read a balance and keep it from everybody else until the transaction ends.
-- params:  $1 player, $2 kind
-- result:  one row: the amount and the version
-- locks:   the balance row, for update
select amount, version from reward_balance where player_id = $1 and kind = $2 for update
