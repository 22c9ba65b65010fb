-- purpose: hold the parts longer that a process is at work on.
-- params:  @plan which; @claimant who; @claim_for how long from now, in milliseconds
-- result:  one row per part
-- locks:   these parts
update grant_plan_chunk c
set claimed_until = statement_timestamp() + @claim_for::bigint * interval '1 millisecond'
where c.plan_id = @plan::bigint and c.claimed_by = @claimant::text and c.state = 'open'
returning c.chunk
