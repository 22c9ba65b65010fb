-- purpose: list the attempts to deliver some postings.
-- params:  @ids the postings
-- result:  one row per attempt, by posting and oldest first
-- locks:   none
select a.ledger_id, a.claim_id::text as claim_id, a.attempt, a.relay, a.sink, a.verdict,
    coalesce(a.detail, '') as detail, a.probed, a.kept, a.started_at, a.ended_at
from reward_outbox_attempt a
where a.ledger_id = any(@ids::bigint[])
order by a.ledger_id, a.attempt, a.started_at
