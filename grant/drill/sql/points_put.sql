-- purpose: give a player of the drill so many points, whatever was there.
-- params:  $1 player, $2 kind, $3 amount
-- result:  none
-- locks:   the balance row
insert into reward_balance (player_id, kind, amount)
values ($1, $2, $3)
on conflict (player_id, kind) do update set amount = excluded.amount, version = 1
