-- purpose: read what is claimed for an event.
-- params:  @player, @event the key
-- result:  one row, or none
-- locks:   none
select c.kind, c.amount, c.status
from reward_claim c
where c.player_id = @player::text and c.reward_event_id = @event::text
