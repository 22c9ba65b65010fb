-- purpose: look at one outbox row without keeping it.
-- params:  @ledger_id the row
-- result:  at most one row
-- locks:   none
select o.ledger_id, o.state, o.attempts, o.player_id, coalesce(o.last_error, '') as last_error,
    o.state = 'claimed' and o.claimed_until > clock_timestamp() as in_flight
from reward_outbox o
where o.ledger_id = @ledger_id::bigint
