-- purpose: read what a verdict needs of the fences of very many resources.
-- params:  @resources the resources
-- result:  for each resource that has a fence its position, counted from 1, in any order
-- locks:   none
select l.position::integer as position, f.last_token as token, f.last_owner as owner
from unnest(@resources::text[]) with ordinality as l (resource, position)
inner join reward_fence as f on f.resource = l.resource
