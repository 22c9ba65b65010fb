-- purpose: read a fence and keep it from moving until the transaction ends. The wait for a grant
--          in flight is the point after which its holder can no longer write unseen.
-- params:  @resource the resource
-- result:  the fence, or none
-- locks:   the fence row, for update
select last_token, last_owner
from reward_fence
where resource = @resource::text
for update
