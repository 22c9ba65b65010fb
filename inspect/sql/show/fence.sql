-- purpose: show the highest token that was accepted for a resource.
-- params:  none; the resource is filled in
-- result:  one row, or none when no token was accepted yet
-- locks:   none
select resource, last_token, last_owner, updated_at
from reward_fence
where resource = {text}
