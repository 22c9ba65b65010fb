-- purpose: hold a plan while a decision about it is written.
-- params:  @plan which
-- result:  its state and version, or no row
-- locks:   the plan
select p.state, p.version, p.needs_approval,
    p.active_at is null or p.active_at < statement_timestamp() - p.approve_within as idle
from grant_plan p
where p.plan_id = @plan::bigint
for update
