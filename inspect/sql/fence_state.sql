-- purpose: read what a verdict needs of the fences of very many resources. Each is looked up by
--          itself (limit 1 makes it so): however many fences there are besides, this costs the same.
-- params:  @resources the resources
-- result:  for each resource that has a fence its position, counted from 1, in any order
-- locks:   none
select l.position::integer as position, f.last_token as token, f.last_owner as owner
from unnest(@resources::text[]) with ordinality as l (resource, position)
cross join lateral (
    select last_token, last_owner from reward_fence where resource = l.resource limit 1
) as f
