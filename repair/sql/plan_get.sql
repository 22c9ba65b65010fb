-- purpose: read plans with how far they are, the newest first.
-- params:  @ids which; null for all; @states which states; null for all; @glass true for those as
--          well that ran under broken glass and that nobody else has looked at; @limit how many at
--          most
-- result:  one row per plan
-- locks:   none
select p.plan_id, p.state, p.version, p.plan_hash, p.campaign, p.source_name, p.reason,
    p.requested_by, p.db_user, p.row_count, p.due, p.duplicates, p.invalid, p.needs_approval,
    p.over, coalesce(b.preview, p.preview) as preview, p.approve_within, p.created_at,
    p.started_at, p.active_at, p.ended_at,
    c.decided, c.errors, c.working, d.decisions, statement_timestamp() as read_at
from (
    select q.plan_id from grant_plan q
    where (@ids::bigint[] is null or q.plan_id = any (@ids::bigint[]))
      and (@states::text[] is null or q.state = any (@states::text[])
           or @glass::boolean and exists (
               select from grant_glass() g where g.plan_id = q.plan_id))
    order by q.plan_id desc
    limit @limit::bigint) chosen
join grant_plan p on p.plan_id = chosen.plan_id
left join lateral (
    select coalesce(sum(c.decided), 0)::bigint as decided,
        coalesce(sum(c.errors), 0)::bigint as errors,
        count(1) filter (where c.state = 'open' and c.claimed_until > statement_timestamp())
            as working
    from grant_plan_chunk c where c.plan_id = p.plan_id) c on true
left join lateral (
    select coalesce(jsonb_agg(jsonb_build_object('id', a.approval_id,
        'approve', a.decision = 'approve', 'review', a.decision = 'review',
        'awaits_review', a.break_glass and exists (
            select from grant_glass() g where g.approval_id = a.approval_id),
        'operator', a.operator, 'db_user', a.db_user,
        'break_glass', a.break_glass, 'reason', a.reason, 'at', a.created_at,
        'expires', a.expires_at, 'used', a.used_at) order by a.approval_id desc), '[]')
        as decisions
    from grant_approval a where a.plan_id = p.plan_id) d on true
left join lateral (
    select a.preview from grant_approval a
    where a.plan_id = p.plan_id and a.decision = 'approve'
    order by a.approval_id desc limit 1) b on true
order by p.plan_id desc
