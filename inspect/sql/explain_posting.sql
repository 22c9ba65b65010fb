-- purpose: find the posting of one reward, what took it back, and its delivery.
-- params:  @player, @event the reward
-- result:  the posting, then those that took back parts of it; none when it was not granted
-- locks:   none
select l.id, l.player_id, l.reward_event_id, l.kind, l.amount, l.fence_token, l.lease_owner,
    l.actor, l.reason, l.reverses, l.created_at, o.state as delivery_state, o.attempts,
    o.next_attempt_at, o.delivered_at, o.last_error
from reward_ledger l
left join reward_outbox o on o.ledger_id = l.id
where l.player_id = @player::text
  and (l.reward_event_id = @event::text
      or l.reverses in (
          select g.id from reward_ledger g
          where g.player_id = @player::text and g.reward_event_id = @event::text))
order by l.reverses nulls first, l.id
