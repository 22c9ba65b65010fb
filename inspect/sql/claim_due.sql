-- purpose: count the rewards that are due for many players at once.
-- params:  @players the players; @bound where counting stops, per player
-- result:  one row per player with due claims: how many are pending and processing
-- locks:   none
select asked.player_id,
    count(*) filter (where due.status = 'pending') as pending,
    count(*) filter (where due.status = 'processing') as processing
from unnest(@players::text[]) as asked (player_id)
cross join lateral (
    select c.status
    from reward_claim c
    where c.player_id = asked.player_id and c.status <> 'applied'
    limit @bound::bigint
) as due
group by asked.player_id
