-- purpose: read what audits found about one player and is not known to be gone: of each check the
--          findings of the newest run that read everything, and of the runs since.
-- params:  @player the player; @limit how many
-- result:  one row per finding, worst first, as the newest run has it; the decision about it is
--          null when there is none
-- locks:   none
select d.run_id, d.finding_id, d.check_name, d.word, d.severity, d.rule, d.what, d.relation,
    d.player_id, d.reward_event_id, d.row_count, d.evidence, d.proof, d.remedy, d.fingerprint,
    a.state, a.version, a.acknowledger, a.reason, a.changed_at
from (
    select distinct on (f.fingerprint) f.run_id, f.finding_id, f.check_name, f.word, f.severity,
        f.rule, f.what, f.relation, f.player_id, f.reward_event_id, f.row_count, f.evidence,
        f.proof, f.remedy, f.fingerprint
    from audit_finding f
    where f.player_id = @player::text and f.player_id <> ''
      and f.run_id >= coalesce((
          select max(c.run_id) from audit_check c
          where c.check_name = f.check_name and c.since is null), 0)
    order by f.fingerprint, f.run_id desc
) as d
left join audit_ack a on a.fingerprint = d.fingerprint
order by case d.severity when 'critical' then 1 when 'warning' then 2 else 3 end, d.finding_id
limit @limit::bigint
