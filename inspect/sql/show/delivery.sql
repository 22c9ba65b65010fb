-- purpose: show every attempt to deliver one posting.
-- params:  none; the row of the ledger is filled in
-- result:  one row per attempt, oldest first; one row when there was none
-- locks:   none
select o.ledger_id, o.state, o.attempts, o.next_attempt_at, o.claimed_until, o.delivered_at,
    o.last_error, a.attempt, a.relay, a.verdict, a.detail, a.started_at, a.ended_at
from reward_outbox o
left join reward_outbox_attempt a on a.ledger_id = o.ledger_id
where o.ledger_id = {id}
order by a.attempt
