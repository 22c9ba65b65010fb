-- purpose: read postings by what is known of them, with what was taken back of each and the
--          balance. Postings that take back are left out.
-- params:  @player, @event, @kind, @actor exact, empty for any; @campaign how event ids begin,
--          empty for any; @from, @until the time of the posting, null for any; @limit how many
--          at most
-- result:  one row per posting, in order of (player, kind, id)
-- locks:   none
select l.id, l.player_id, l.reward_event_id, l.kind, l.amount, l.fence_token, l.lease_owner,
    l.actor, l.reason, l.reverses, l.created_at, back.parts, back.amount as back,
    coalesce(b.amount, 0) as balance
from reward_ledger l
left join lateral (
    select count(*)::integer as parts, coalesce(-sum(r.amount), 0)::bigint as amount
    from reward_ledger r where r.reverses = l.id) back on true
left join reward_balance b on b.player_id = l.player_id and b.kind = l.kind
where l.reverses is null
  and (@player::text = '' or l.player_id = @player::text)
  and (@event::text = '' or l.reward_event_id = @event::text)
  and (@campaign::text = '' or starts_with(l.reward_event_id, @campaign::text))
  and (@kind::text = '' or l.kind = @kind::text)
  and (@actor::text = '' or l.actor = @actor::text)
  and (@from::timestamptz is null or l.created_at >= @from::timestamptz)
  and (@until::timestamptz is null or l.created_at < @until::timestamptz)
order by l.player_id, l.kind, l.id
limit @limit::bigint
