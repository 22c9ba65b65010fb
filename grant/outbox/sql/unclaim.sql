-- purpose: give rows back that were claimed and not sent, as they were before.
-- params:  $1 ledger ids, bigint[]; $2 their claims, uuid[]
-- result:  none
-- locks:   the outbox rows, in order of their ids
with held as materialized (
    select o.ledger_id
    from reward_outbox o
    join unnest($1::bigint[], $2::uuid[]) as u (ledger_id, claim_id)
        on u.ledger_id = o.ledger_id and u.claim_id = o.claim_id
    where o.state = 'claimed'
    order by o.ledger_id
    for update of o
)
update reward_outbox o
set state = 'pending', claimed_by = null, claimed_until = null
where o.ledger_id = any (array(select ledger_id from held))
