-- purpose: write down what became of the rows of a part, and give the part back. Whoever lost the
--          claim writes nothing.
-- params:  @plan, @chunk which; @claimant, @claim_no the claim; @first_line, @last_line its lines;
--          @lines, @outcomes, @ledger_ids, @details one of each per row, 0 and '' for none;
--          @state what becomes of the part; @retry_in when it may be tried again, in milliseconds;
--          @held_for how long leases of others may still be in the way, 0 for none;
--          @decided, @errors how many of its rows are; @uncounted whether this try does not count
-- result:  one row when the claim held, else none
-- locks:   the part, its rows; the plan, unless somebody holds it while he decides about it: that
--          may take long, and the next part tells that it is active as well
with mine as (
    select c.chunk
    from grant_plan_chunk c
    where c.plan_id = @plan::bigint and c.chunk = @chunk::integer
      and c.claimed_by = @claimant::text and c.claim_no = @claim_no::integer
      and c.state = 'open'
    for update
), told as (
    update grant_plan_row r
    set outcome = u.outcome, ledger_id = nullif(u.ledger_id, 0), detail = nullif(u.detail, '')
    from unnest(@lines::bigint[], @outcomes::text[], @ledger_ids::bigint[], @details::text[])
        as u (line, outcome, ledger_id, detail)
    where r.plan_id = @plan::bigint and r.line = u.line
      and r.line between @first_line::bigint and @last_line::bigint
      and exists (select from mine)
), idle as (
    select p.plan_id
    from grant_plan p
    where p.plan_id = @plan::bigint and exists (select from mine)
      and p.active_at < statement_timestamp() - interval '5 seconds'
    for no key update skip locked
), active as (
    update grant_plan p set active_at = statement_timestamp()
    from idle
    where p.plan_id = idle.plan_id
)
update grant_plan_chunk c
set state = @state::text, claimed_by = null, claimed_until = null,
    tries = c.tries - case when @uncounted::boolean then 1 else 0 end,
    retry_at = statement_timestamp() + @retry_in::bigint * interval '1 millisecond',
    held_until = case when @held_for::bigint > 0
        then statement_timestamp() + @held_for::bigint * interval '1 millisecond' end,
    decided = @decided::integer, errors = @errors::integer
from mine
where c.plan_id = @plan::bigint and c.chunk = mine.chunk
returning c.chunk
