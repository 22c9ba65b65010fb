-- purpose: read the hashes of all parts of a plan, to compare each part with when it is claimed.
-- params:  @plan which
-- result:  one row per part, in order
-- locks:   none
select c.chunk, c.hash
from grant_plan_chunk c
where c.plan_id = @plan::bigint
order by c.chunk
