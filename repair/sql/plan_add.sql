-- purpose: begin a plan. Nobody sees it before its rows are complete: one transaction makes both.
-- params:  @campaign, @source, @operator, @reason what is said about it; @within how long an
--          approval lasts, in milliseconds
-- result:  the plan's number
-- locks:   none
insert into grant_plan (campaign, source_name, requested_by, reason, approve_within)
values (@campaign::text, @source::text, @operator::text, @reason::text,
    @within::bigint * interval '1 millisecond')
returning plan_id
