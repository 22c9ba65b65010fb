-- purpose: read the rows of one part of a plan.
-- params:  @plan which; @first_line, @last_line its lines
-- result:  one row per row, in order
-- locks:   none
select r.line, r.player_id, r.reward_event_id, r.kind, r.amount, r.duplicate_of, r.problem,
    r.outcome
from grant_plan_row r
where r.plan_id = @plan::bigint and r.line between @first_line::bigint and @last_line::bigint
order by r.line
