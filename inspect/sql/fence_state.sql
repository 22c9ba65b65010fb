-- purpose: read what a verdict needs of the fences of very many resources. Each is looked up by
--          itself (limit 1 makes it so): fences of other resources cost nothing.
-- params:  @resources the resources
-- result:  one row of three arrays: for each resource that has a fence its position, counted from
--          1, the token and the owner. Arrays are read in a third of the time of as many rows.
-- locks:   none
select
    coalesce(array_agg(l.position::integer), '{}') as positions,
    coalesce(array_agg(f.last_token), '{}') as tokens,
    coalesce(array_agg(f.last_owner), '{}') as owners
from unnest(@resources::text[]) with ordinality as l (resource, position)
cross join lateral (
    select last_token, last_owner from reward_fence where resource = l.resource limit 1
) as f
