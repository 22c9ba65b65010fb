-- purpose: tell how far a plan is.
-- params:  @plan which; @claimant who asks
-- result:  one row: its state, rows due, decided and refused, parts that are open, and how long
--          until the next of them can be claimed, in milliseconds, null when none is open; rows
--          that wait for leases, and how long until the last of these ends; parts that others hold
-- locks:   none
select p.state, p.due, coalesce(sum(c.decided), 0)::bigint as decided,
    coalesce(sum(c.errors), 0)::bigint as errors,
    count(1) filter (where c.state = 'open') as open,
    count(1) filter (where c.state = 'left') as left_over,
    (extract(epoch from min(greatest(c.claimed_until, c.retry_at, statement_timestamp()))
        filter (where c.state = 'open') - statement_timestamp()) * 1000)::bigint as next_in,
    coalesce(sum(c.due - c.decided) filter (where c.state = 'open'
        and c.held_until > statement_timestamp()), 0)::bigint as held_rows,
    coalesce(extract(epoch from max(c.held_until) filter (where c.state = 'open'
        and c.held_until > statement_timestamp()) - statement_timestamp()) * 1000, 0)::bigint
        as held_for,
    count(1) filter (where c.state = 'open' and c.claimed_until > statement_timestamp()
        and c.claimed_by <> @claimant::text) as elsewhere
from grant_plan p
left join grant_plan_chunk c on c.plan_id = p.plan_id
where p.plan_id = @plan::bigint
group by p.plan_id, p.state, p.due
