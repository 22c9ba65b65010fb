-- purpose: show one audit and how many findings of each kind it kept.
-- params:  none; the run is filled in
-- result:  one row per kind of finding; one row when it found nothing
-- locks:   none
select r.run_id, r.state, r.checks, r.incremental, r.requested_by, r.started_at, r.ended_at,
    r.problem, f.check_name, f.word, f.severity, count(f.finding_id) as findings
from audit_run r
left join audit_finding f on f.run_id = r.run_id
where r.run_id = {id}
group by r.run_id, f.check_name, f.word, f.severity
order by f.severity, f.check_name, f.word
