-- purpose: tell whether there is a plan.
-- params:  @plan its number
-- result:  one row, or none: what it is part of and its state
-- locks:   none
select campaign, state
from grant_plan
where plan_id = @plan::bigint
