-- purpose: read the kept findings of a run.
-- params:  @run the run
-- result:  one row per finding, worst first
-- locks:   none
select f.finding_id, f.check_name, f.word, f.severity, f.rule, f.what, f.relation,
    f.player_id, f.reward_event_id, f.row_count, f.evidence, f.proof, f.remedy, f.fingerprint
from audit_finding f
where f.run_id = @run::bigint
order by case f.severity when 'critical' then 1 when 'warning' then 2 else 3 end, f.check_name,
    f.finding_id
