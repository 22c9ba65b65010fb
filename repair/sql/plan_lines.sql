-- purpose: read what became of the rows of a plan, a page at a time, in the order of the file.
-- params:  @plan which; @after the last line read so far; @limit rows in a page;
--          @ungranted true for only those that are neither granted now nor before
-- result:  one row per row
-- locks:   none
select r.line, r.player_id, r.reward_event_id, r.kind, r.amount,
    coalesce(r.amount_text, '') as amount_text, coalesce(r.duplicate_of, 0) as duplicate_of,
    coalesce(case when r.duplicate_of is not null and h.outcome = 'applied' then 'replayed'
        when r.duplicate_of is not null then h.outcome else r.outcome end, 'not_run') as outcome,
    coalesce(r.ledger_id, h.ledger_id, 0) as ledger_id,
    coalesce(case when r.duplicate_of is null then r.detail
        when h.outcome = 'applied' then null else h.detail end, '') as detail
from grant_plan_row r
left join lateral (
    select h.outcome, h.ledger_id, h.detail from grant_plan_row h
    where r.duplicate_of is not null and h.plan_id = r.plan_id and h.line = r.duplicate_of
    offset 0) h on true
where r.plan_id = @plan::bigint and r.line > @after::bigint
  and (not @ungranted::boolean
       or coalesce(case when r.duplicate_of is not null then h.outcome else r.outcome end, '')
          not in ('applied', 'replayed'))
order by r.line
limit @limit::bigint
