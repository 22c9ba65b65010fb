-- purpose: I3, every posting has exactly one outbox row, and every outbox row its posting.
-- params:  none
-- result:  one line of text per violation
-- locks:   none
with queued as (
    select ledger_id, count(*) as rows from reward_outbox group by ledger_id
)
select format('posting %s: %s in the ledger, %s in the outbox', coalesce(l.id, q.ledger_id),
              (l.id is not null)::integer, coalesce(q.rows, 0))
from reward_ledger l
full join queued q on q.ledger_id = l.id
where l.id is null or q.rows is distinct from 1
order by 1
