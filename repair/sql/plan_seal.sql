-- purpose: end the making of a plan: from here on it is frozen.
-- params:  @plan which; @content the hash over its rows; @rows, @due, @duplicates, @invalid counts;
--          @over the limits that it is over, @preview what was shown, objects; @waits whether
--          somebody else has to approve it
-- result:  the plan's hash
-- locks:   the plan, and the content among open plans
update grant_plan p
set content_hash = @content::bytea,
    plan_hash = grant_plan_hash(p.campaign, p.reason, p.requested_by, @content::bytea),
    row_count = @rows::bigint, due = @due::bigint, duplicates = @duplicates::bigint,
    invalid = @invalid::bigint, over = @over::jsonb, preview = @preview::jsonb,
    needs_approval = @waits::boolean,
    state = case when @waits::boolean then 'waiting' else 'ready' end
where p.plan_id = @plan::bigint and p.state = 'making'
returning p.plan_hash
