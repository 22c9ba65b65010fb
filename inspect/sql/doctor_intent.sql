-- purpose: find deeds that were cut off: intents without a result, of their own or of a
--          later try.
-- params:  @before only intents older than this; those are not at work any more
-- result:  one row: how many, and the oldest of them, null when there is none
-- locks:   none
select count(*) over () as intents, a.id, a.action, a.target, a.operator, a.created_at
from operator_action a
where a.phase = 'intent' and a.created_at < @before::timestamptz
  and not exists (select from operator_action r where r.intent = a.id)
  and not exists (
      select from operator_action r
      where r.target = a.target and r.id > a.id and r.action = a.action and r.phase = 'result')
order by a.id
limit 1
