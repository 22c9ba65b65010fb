-- purpose: show one plan and what became of its rows.
-- params:  none; the plan is filled in
-- result:  one row per outcome; rows that were not granted yet have none
-- locks:   none
select p.plan_id, p.state, p.version, p.campaign, p.source_name, p.requested_by, p.reason,
    p.created_at, r.outcome, count(r.line) as lines, sum(r.amount) as amount
from grant_plan p
left join grant_plan_row r on r.plan_id = p.plan_id
where p.plan_id = {id}
group by p.plan_id, r.outcome
order by r.outcome
