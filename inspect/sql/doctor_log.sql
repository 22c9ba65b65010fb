-- purpose: tell whether the operator log is still chained, and whether its end fits its head.
-- params:  none
-- result:  one row: is there a head, does the last row fit it, does the trigger that chains fire
--          for everybody
-- locks:   none
select h.hash is not null as has_head,
    coalesce(h.last_id = coalesce(l.id, 0) and (l.id is null or h.hash = l.hash), false) as fits,
    coalesce(h.last_id, 0) as head_id, coalesce(l.id, 0) as last_id,
    exists (
        select from pg_trigger t
        where t.tgrelid = to_regclass('operator_action') and t.tgenabled = 'A'
          and t.tgfoid = to_regprocedure('operator_action_chain()')
    ) as chained
from (select 1) as one
left join operator_action_head h on true
left join (select a.id, a.hash from operator_action a order by a.id desc limit 1) l on true
