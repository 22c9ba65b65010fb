-- purpose: sum up the deeds of a span of time. A deed with an intent and a result counts once.
-- params:  @from, @to the span: from, and before; @actor an operator or a database user, empty for
--          all
-- result:  one row per operator, action and outcome (what stands before its colon), most first
-- locks:   none
select a.operator, a.action, a.phase, split_part(a.outcome, ':', 1) as outcome,
    count(*) as deeds, min(a.id) as first_id, max(a.id) as last_id
from operator_action a
where a.created_at >= @from::timestamptz and a.created_at < @to::timestamptz
  and (@actor::text = '' or a.operator = @actor::text or a.db_user = @actor::text)
  and (a.phase <> 'intent' or not exists (select from operator_action r where r.intent = a.id))
group by 1, 2, 3, 4
order by deeds desc, 1, 2, 3, 4
