-- purpose: write down a decision about a plan. A trigger fills in who it is by the session, and
--          refuses what must not be, by its own code: RW001 the state, RW003 the rows, RW004 one's
--          own plan.
-- params:  @plan which; @decision approve, reject or review; @hash of what was shown;
--          @operator who; @break_glass an emergency; @reason why; @preview what the decision is
--          based on
-- result:  the decision's number, and when an approval ends
-- locks:   the plan
insert into grant_approval (plan_id, decision, plan_hash, operator, requested_by,
    requested_db_user, break_glass, reason, preview, expires_at)
values (@plan::bigint, @decision::text, @hash::bytea, @operator::text, '', '',
    @break_glass::boolean, @reason::text, @preview::jsonb, statement_timestamp())
returning approval_id, expires_at
