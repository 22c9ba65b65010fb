-- purpose: read what decides the outcome of many grants, without holding anything.
-- params:  @players, @events, @kinds, @resources one of each per grant
-- result:  one row per grant, in order; columns are null where nothing is there
-- locks:   none
select l.id, l.kind as posted_kind, l.amount as posted_amount, l.fence_token as posted_token,
    l.lease_owner, l.actor, l.reason, l.created_at, c.kind as claim_kind,
    c.amount as claim_amount, c.status as claim_status, c.fence_token as claim_token,
    coalesce(b.amount, 0) as balance, f.last_token, f.last_owner
from unnest(@players::text[], @events::text[], @kinds::text[], @resources::text[])
    with ordinality as asked (player_id, event, kind, resource, n)
left join reward_ledger l on l.player_id = asked.player_id and l.reward_event_id = asked.event
left join reward_claim c on c.player_id = asked.player_id and c.reward_event_id = asked.event
left join reward_balance b on b.player_id = asked.player_id and b.kind = asked.kind
left join reward_fence f on f.resource = asked.resource
order by asked.n
