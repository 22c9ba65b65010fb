-- purpose: write a balance only if nobody has written it since it was read.
-- params:  $1 player, $2 kind, $3 the amount, $4 the version that was read
-- result:  none; no row is written when the version is another one
-- locks:   the balance row
update reward_balance set amount = $3, version = version + 1
where player_id = $1 and kind = $2 and version = $4
