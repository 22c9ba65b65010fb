-- purpose: read the fences of many resources at once.
-- params:  @resources the resources
-- result:  one row per resource that has a fence, in any order
-- locks:   none
select resource, last_token as token, last_owner as owner, updated_at
from reward_fence
where resource = any(@resources::text[])
