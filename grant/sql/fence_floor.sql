-- purpose: read the fences of many resources: the floors of the tokens to be issued.
-- params:  $1 the resources
-- result:  one row per resource that has a fence, in any order
-- locks:   none
select resource, last_token
from reward_fence
where resource = any($1::text[])
