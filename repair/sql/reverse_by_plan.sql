-- purpose: read the postings that a plan made, with what was taken back of each and the balance.
--          A run that was killed after its commit finds its own posting again as a replay; that
--          one has the plan's requester and reason, and is not older than the plan's first run.
-- params:  @plan the plan; @limit how many at most
-- result:  one row per posting, in order of (player, kind, id)
-- locks:   none
select l.id, l.player_id, l.reward_event_id, l.kind, l.amount, l.fence_token, l.lease_owner,
    l.actor, l.reason, l.reverses, l.created_at, back.parts, back.amount as back,
    coalesce(b.amount, 0) as balance
from (
    select r.ledger_id, bool_or(r.outcome = 'applied') as ours, p.requested_by, p.reason,
        p.started_at
    from grant_plan_row r
    join grant_plan p on p.plan_id = r.plan_id
    where r.plan_id = @plan::bigint and r.outcome in ('applied', 'replayed')
      and r.ledger_id is not null
    group by r.ledger_id, p.requested_by, p.reason, p.started_at) made
join reward_ledger l on l.id = made.ledger_id
    and (made.ours or l.actor = made.requested_by and l.reason = made.reason
        and l.created_at >= made.started_at)
left join lateral (
    select count(*)::integer as parts, coalesce(-sum(r.amount), 0)::bigint as amount
    from reward_ledger r where r.reverses = l.id) back on true
left join reward_balance b on b.player_id = l.player_id and b.kind = l.kind
order by l.player_id, l.kind, l.id
limit @limit::bigint
