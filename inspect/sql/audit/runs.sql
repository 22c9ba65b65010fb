-- purpose: list runs of audits with how far they got.
-- params:  @run one run, or 0 for the latest; @limit how many
-- result:  one row per run, newest first
-- locks:   none
select r.run_id, r.state, r.checks, r.options, r.origin, r.parts, r.incremental, r.requested_by,
    r.db_user, r.command, r.problem, r.started_at, r.seen_at, r.ended_at,
    (select count(*) from audit_part p where p.run_id = r.run_id) as units_done,
    coalesce((
        select array_agg(c.check_name order by c.finished_at, c.check_name)
        from audit_check c where c.run_id = r.run_id
    ), array[]::text[]) as checks_done,
    (select count(*) from audit_finding f where f.run_id = r.run_id) as findings,
    (
        select count(*) from audit_finding f
        where f.run_id = r.run_id and f.severity = 'critical'
    ) as critical,
    (
        select count(*)
        from audit_finding f
        join audit_ack a on a.fingerprint = f.fingerprint and a.state = 'acknowledged'
        where f.run_id = r.run_id
    ) as acknowledged,
    (
        select count(*)
        from audit_finding f
        join audit_ack a on a.fingerprint = f.fingerprint and a.state = 'acknowledged'
        where f.run_id = r.run_id and f.severity = 'critical'
    ) as critical_acknowledged
from audit_run r
where @run::bigint = 0 or r.run_id = @run::bigint
order by r.run_id desc
limit @limit::integer
