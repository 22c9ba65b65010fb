-- purpose: read a fence without keeping it.
-- params:  @resource the resource
-- result:  the fence, or none
-- locks:   none
select last_token, last_owner
from reward_fence
where resource = @resource::text
