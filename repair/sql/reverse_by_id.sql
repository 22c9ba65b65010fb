-- purpose: read postings by their ids, with what was taken back of each and the balance.
-- params:  @ids the postings
-- result:  one row per posting that is there, in order of (player, kind, id)
-- locks:   none
select l.id, l.player_id, l.reward_event_id, l.kind, l.amount, l.fence_token, l.lease_owner,
    l.actor, l.reason, l.reverses, l.created_at, back.parts, back.amount as back,
    coalesce(b.amount, 0) as balance
from reward_ledger l
left join lateral (
    select count(*)::integer as parts, coalesce(-sum(r.amount), 0)::bigint as amount
    from reward_ledger r where r.reverses = l.id) back on true
left join reward_balance b on b.player_id = l.player_id and b.kind = l.kind
where l.id = any(@ids::bigint[])
order by l.player_id, l.kind, l.id
