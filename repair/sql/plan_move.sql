-- purpose: bring a plan into another state. A trigger refuses what the plan's approval does not
--          allow, by its own code: RW001 the state, RW002 the approval, RW003 the rows.
-- params:  @plan which, @state the new state, @operator who; @person whether a person decided,
--          which makes a new version
-- result:  the new version
-- locks:   the plan, and the approval that it begins under
update grant_plan p
set state = @state::text,
    version = p.version + case when @person::boolean then 1 else 0 end,
    started_at = case when @state::text = 'running'
        then coalesce(p.started_at, statement_timestamp()) else p.started_at end,
    started_by = case when @state::text = 'running'
        then coalesce(p.started_by, @operator::text) else p.started_by end,
    active_at = case when @state::text = 'running' then statement_timestamp() else p.active_at end,
    ended_at = case when @state::text in ('rejected', 'cancelled', 'stopped', 'done')
        then statement_timestamp() end
where p.plan_id = @plan::bigint
returning p.version
