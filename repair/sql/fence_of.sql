-- purpose: read the fences of some resources.
-- params:  @resources which
-- result:  one row per resource that has a fence, in any order
-- locks:   none
select f.resource, f.last_token, f.last_owner
from unnest(@resources::text[]) as r (resource)
cross join lateral (
    select f.resource, f.last_token, f.last_owner
    from reward_fence f where f.resource = r.resource collate "C" offset 0) f
