-- purpose: find the outbox rows that a requeue or a parking is about, and keep them as they are.
-- params:  @ledger_id one row, 0 for all that match; @state their state; @player, @kind, @error
--          empty for any, error is part of the last one; @since, @until when posted or, of
--          delivered rows, delivered; null for no bound
-- result:  one row per outbox row, by ledger id
-- locks:   the outbox rows, in order of their ids
select o.ledger_id, o.state, o.attempts, o.player_id, coalesce(o.last_error, '') as last_error,
    o.state = 'claimed' and o.claimed_until > clock_timestamp() as in_flight
from reward_outbox o
join reward_ledger l on l.id = o.ledger_id
where case when @ledger_id::bigint <> 0 then o.ledger_id = @ledger_id::bigint
           else o.state = @state::text end
  and (@player::text = '' or o.player_id = @player::text)
  and (@kind::text = '' or l.kind = @kind::text)
  and (@error::text = '' or position(@error::text in o.last_error) > 0)
  and (@since::timestamptz is null
       or coalesce(o.delivered_at, l.created_at) >= @since::timestamptz)
  and (@until::timestamptz is null
       or coalesce(o.delivered_at, l.created_at) < @until::timestamptz)
order by o.ledger_id
for update of o
