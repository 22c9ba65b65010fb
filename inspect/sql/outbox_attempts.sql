-- purpose: list the attempts to deliver one posting.
-- params:  @ledger_id the posting
-- result:  one row per attempt, oldest first
-- locks:   none
select a.claim_id::text as claim_id, a.attempt, a.relay, a.sink, a.verdict,
    coalesce(a.detail, '') as detail, a.probed, a.kept, a.started_at, a.ended_at
from reward_outbox_attempt a
where a.ledger_id = @ledger_id::bigint
order by a.attempt, a.started_at
