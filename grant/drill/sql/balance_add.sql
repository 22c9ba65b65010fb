-- purpose: add a posting to the player's balance.
-- params:  $1 player, $2 kind, $3 amount
-- result:  none
-- locks:   the balance row
insert into reward_balance as b (player_id, kind, amount)
values ($1, $2, $3)
on conflict (player_id, kind) do update
    set amount = b.amount + excluded.amount, version = b.version + 1
