-- purpose: read a finding and what was decided about it, for a decision.
-- params:  @finding its number
-- result:  one row, or none; state and version are null when nothing was decided yet
-- locks:   none
select f.finding_id, f.fingerprint, f.check_name, f.what, a.state, a.version, a.acknowledger
from audit_finding f
left join audit_ack a on a.fingerprint = f.fingerprint
where f.finding_id = @finding::bigint
