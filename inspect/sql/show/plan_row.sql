-- purpose: show one line of a plan.
-- params:  none; the plan and the line are filled in
-- result:  one row
-- locks:   none
select plan_id, line, player_id, reward_event_id, kind, amount, outcome, ledger_id, problem, detail
from grant_plan_row
where plan_id = {id} and line = {line}
