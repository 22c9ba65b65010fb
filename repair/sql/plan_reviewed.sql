-- purpose: make a new version of a plan that was reviewed after it had ended. Nothing else changes.
-- params:  @plan which
-- result:  the new version
-- locks:   the plan
update grant_plan p
set version = p.version + 1
where p.plan_id = @plan::bigint
returning p.version
