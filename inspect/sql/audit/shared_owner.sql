-- purpose: tell which owners held the lease of something else than a player's own resource: their
--          tokens come from another counter.
-- params:  @owners the owners in question
-- result:  one row per owner that wrote for several players, or holds another resource's fence
-- locks:   none
select l.lease_owner as owner
from reward_ledger l
where l.lease_owner = any (@owners::text[])
group by l.lease_owner
having min(l.player_id) <> max(l.player_id)
union
select f.last_owner
from reward_fence f
where f.last_owner = any (@owners::text[]) and not starts_with(f.resource, 'reward:')
