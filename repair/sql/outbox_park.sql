-- purpose: take rows out: no relay sends them until they are requeued.
-- params:  @ids the rows, which are locked
-- result:  one row: how many were changed
-- locks:   the outbox rows, which are locked already
with changed as (
    update reward_outbox o
    set state = 'parked', next_attempt_at = null, claimed_by = null, claimed_until = null,
        doubt = o.doubt or o.state = 'claimed'
    where o.ledger_id = any (@ids::bigint[])
    returning 1
)
select count(*) as rows, ''::text as woken from changed
