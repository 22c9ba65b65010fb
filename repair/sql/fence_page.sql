-- purpose: read fences page by page, in order of resource.
-- params:  @after the resource after which the page begins; @limit how many
-- result:  one row per fence
-- locks:   none
select resource, last_token, last_owner
from reward_fence
where resource > @after::text collate "C"
order by resource
limit @limit::bigint
