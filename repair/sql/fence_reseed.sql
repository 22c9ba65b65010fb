-- purpose: raise fences to what Redis has issued, under a tombstone owner: after a failover that
--          lost rows nobody knows which of these tokens were accepted. Never lowers a fence.
-- params:  @resources, @tokens which and to what, in byte order of resource; @tombstone the owner
-- result:  the fences that were raised
-- locks:   the fence rows, by resource
insert into reward_fence as f (resource, last_token, last_owner, updated_at)
select r.resource, r.token, @tombstone::text, statement_timestamp()
from unnest(@resources::text[], @tokens::bigint[]) as r (resource, token)
order by r.resource collate "C"
on conflict (resource) do update
    set last_token = excluded.last_token,
        last_owner = excluded.last_owner,
        updated_at = excluded.updated_at
    where f.last_token < excluded.last_token
returning f.resource
