-- purpose: a piece of the operator log as it was hashed, in the order of the chain.
-- params:  @after the id that the piece begins after; @limit how many rows
-- result:  the rows, lowest id first
-- locks:   none
select a.id, a.operator, a.db_user, a.host, a.client, a.action, a.target, a.args_version,
    a.arguments::text as arguments, a.observed::text as observed, a.before::text as before,
    a.after::text as after, a.reason, a.ticket, a.approval, a.phase, a.intent, a.outcome,
    a.command, a.created_at, a.prev_hash, a.hash
from operator_action a
where a.id > @after::bigint
order by a.id
limit @limit::bigint
