-- purpose: what was accepted last, for when Redis cannot say who holds what.
-- params:  @limit how many
-- result:  the fences that were advanced last, newest first
-- locks:   none
select resource, last_token as token, last_owner as owner, updated_at
from reward_fence
order by updated_at desc, resource
limit @limit::bigint
