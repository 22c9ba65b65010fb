-- purpose: find the claim of one reward.
-- params:  @player, @event the reward
-- result:  the claim, or none
-- locks:   none
select player_id, reward_event_id, kind, amount, fence_token, status, updated_at
from reward_claim
where player_id = @player::text and reward_event_id = @event::text
