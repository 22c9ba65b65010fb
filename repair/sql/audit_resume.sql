-- purpose: write down that a run goes on that was cut off.
-- params:  @run the run
-- result:  its state, or nothing when it is not there or was read to its end
-- locks:   the run
update audit_run
set state = 'running', ended_at = null, problem = null, seen_at = statement_timestamp()
where run_id = @run::bigint and state <> 'done'
returning state
