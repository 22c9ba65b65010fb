-- purpose: write down what became of a run.
-- params:  @run the run; @state its state; @problem why it failed, or empty
-- result:  none
-- locks:   the run
update audit_run
set state = @state::text, problem = nullif(@problem::text, ''), ended_at = statement_timestamp(),
    seen_at = statement_timestamp()
where run_id = @run::bigint
