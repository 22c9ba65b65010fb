-- purpose: have a plan wait for approval that is over a limit by now.
-- params:  @plan which; @over the limits
-- result:  none
-- locks:   the plan
update grant_plan p
set state = 'waiting', needs_approval = true, over = @over::jsonb, version = p.version + 1
where p.plan_id = @plan::bigint and p.state = 'ready'
