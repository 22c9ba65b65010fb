-- purpose: list the plans that ran under broken glass and that nobody else has looked at since.
-- params:  @before only what began before this, null for all; @limit how many at most
-- result:  one row per plan and broken glass, the oldest first, with how many there are
-- locks:   none
select count(*) over () as plans, g.plan_id, p.state, g.operator, g.reason, g.used_at
from grant_glass() g
join grant_plan p on p.plan_id = g.plan_id
where @before::timestamptz is null or g.used_at < @before::timestamptz
order by g.used_at, g.approval_id
limit @limit::bigint
