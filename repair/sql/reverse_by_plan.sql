-- purpose: read the postings that a plan made, with what was taken back of each and the balance.
-- params:  @plan the plan; @limit how many at most
-- result:  one row per posting, in order of (player, kind, id)
-- locks:   none
select l.id, l.player_id, l.reward_event_id, l.kind, l.amount, l.fence_token, l.lease_owner,
    l.actor, l.reason, l.reverses, l.created_at, back.parts, back.amount as back,
    coalesce(b.amount, 0) as balance
from (
    select distinct r.ledger_id from grant_plan_row r
    where r.plan_id = @plan::bigint and r.outcome = 'applied' and r.ledger_id is not null) made
join reward_ledger l on l.id = made.ledger_id
left join lateral (
    select count(*)::integer as parts, coalesce(-sum(r.amount), 0)::bigint as amount
    from reward_ledger r where r.reverses = l.id) back on true
left join reward_balance b on b.player_id = l.player_id and b.kind = l.kind
order by l.player_id, l.kind, l.id
limit @limit::bigint
