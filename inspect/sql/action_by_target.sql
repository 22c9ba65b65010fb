-- purpose: operator deeds about some targets: resources or players.
-- params:  @targets the targets; @limit how many
-- result:  the newest deeds, newest first
-- locks:   none
select id, operator, db_user, action, target, arguments, observed, reason, outcome, command,
    created_at
from operator_action
where target = any(@targets::text[])
order by id desc
limit @limit::bigint
