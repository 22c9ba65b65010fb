-- purpose: count the rows of a plan by their outcome. A duplicate has the outcome of the row that
--          it repeats, replayed instead of applied; a row without an outcome was not run.
-- params:  @plan which
-- result:  one row per outcome
-- locks:   none
select coalesce(case when r.duplicate_of is not null and h.outcome = 'applied' then 'replayed'
        when r.duplicate_of is not null then h.outcome else r.outcome end, 'not_run') as outcome,
    count(1) as rows, count(r.duplicate_of) as duplicates
from grant_plan_row r
left join lateral (
    select h.outcome from grant_plan_row h
    where r.duplicate_of is not null and h.plan_id = r.plan_id and h.line = r.duplicate_of
    offset 0) h on true
where r.plan_id = @plan::bigint
group by 1
order by 1
