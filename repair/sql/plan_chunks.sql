-- purpose: cut the rows of a plan into chunks and hash each.
-- params:  @plan which; @size rows in a chunk
-- result:  none
-- locks:   none
insert into grant_plan_chunk (plan_id, chunk, first_line, last_line, row_count, due, hash, state)
select @plan::bigint, n.chunk, min(n.line), max(n.line), count(1),
    count(1) filter (where n.problem is null and n.duplicate_of is null),
    sha256(convert_to(string_agg(grant_plan_row_form(n.line, n.player_id, n.reward_event_id,
        n.kind, n.amount, n.duplicate_of, n.problem), '' order by n.line), 'UTF8')),
    case when bool_or(n.problem is null and n.duplicate_of is null) then 'open' else 'done' end
from (
    select r.line, r.player_id, r.reward_event_id, r.kind, r.amount, r.duplicate_of, r.problem,
        (row_number() over (order by r.line) - 1) / @size::integer as chunk
    from grant_plan_row r
    where r.plan_id = @plan::bigint) n
group by n.chunk
