-- purpose: read a balance as a program does that is about to change it, without holding it.
-- params:  $1 player, $2 kind
-- result:  one row: the amount and the version
-- locks:   none
select amount, version from reward_balance where player_id = $1 and kind = $2
