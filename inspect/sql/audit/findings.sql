-- purpose: read the kept findings of a run, with what was decided about each.
-- params:  @run the run; @finding one of them, or 0 for all
-- result:  one row per finding, worst first; the decision is null when there is none
-- locks:   none
select f.finding_id, f.check_name, f.word, f.severity, f.rule, f.what, f.relation,
    f.player_id, f.reward_event_id, f.row_count, f.evidence, f.proof, f.remedy, f.fingerprint,
    a.state, a.version, a.acknowledger, a.reason, a.changed_at
from audit_finding f
left join audit_ack a on a.fingerprint = f.fingerprint
where f.run_id = @run::bigint and (@finding::bigint = 0 or f.finding_id = @finding::bigint)
order by case f.severity when 'critical' then 1 when 'warning' then 2 else 3 end, f.check_name,
    f.finding_id
