-- purpose: show one row of the operators' log.
-- params:  none; the row is filled in
-- result:  one row
-- locks:   none
select id, operator, db_user, action, target, arguments, observed, reason, outcome, command,
    created_at
from operator_action
where id = {id}
