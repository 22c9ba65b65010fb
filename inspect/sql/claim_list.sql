-- purpose: list the rewards that are due for one player.
-- params:  @player the player; @limit how many
-- result:  the claims that are not applied, by event
-- locks:   none
select player_id, reward_event_id, kind, amount, fence_token, status, updated_at
from reward_claim
where player_id = @player::text and status <> 'applied'
order by reward_event_id
limit @limit::bigint
