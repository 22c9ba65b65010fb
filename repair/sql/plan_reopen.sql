-- purpose: open the parts of a plan again that a run gave up.
-- params:  @plan which
-- result:  none
-- locks:   these parts
update grant_plan_chunk c
set state = 'open', tries = 0, retry_at = null, held_until = null, errors = 0
where c.plan_id = @plan::bigint and c.state = 'left'
