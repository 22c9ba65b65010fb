-- purpose: claim the next part of a running plan that nobody holds. A claim that expired is taken
--          over; its holder finds out by the number of the claim.
-- params:  @plan which; @claimant who, unique; @claim_for how long, in milliseconds
-- result:  the part, or no row
-- locks:   one part, passing over those that others hold
with free as (
    select c.chunk, c.claimed_by
    from grant_plan_chunk c
    where c.plan_id = @plan::bigint and c.state = 'open'
      and (c.claimed_until is null or c.claimed_until <= statement_timestamp())
      and (c.retry_at is null or c.retry_at <= statement_timestamp())
      and exists (select from grant_plan p
                  where p.plan_id = @plan::bigint and p.state = 'running')
    order by c.chunk
    limit 1
    for update of c skip locked)
update grant_plan_chunk c
set claimed_by = @claimant::text,
    claimed_until = statement_timestamp() + @claim_for::bigint * interval '1 millisecond',
    claim_no = c.claim_no + 1, tries = c.tries + 1
from free
where c.plan_id = @plan::bigint and c.chunk = free.chunk
returning c.chunk, c.first_line, c.last_line, c.claim_no, c.tries,
    coalesce(free.claimed_by, '') as taken_from
