-- purpose: accept the server and the timeline that the database is on now.
-- params:  @operator who; @accepted the pair that was accepted, as it was seen
-- result:  the new pair, or none when another pair is accepted by now
-- locks:   the row, for update
update reward_timeline t
set system_identifier = s.system_identifier, timeline = reward_timeline_now(),
    accepted_at = statement_timestamp(), accepted_by = @operator::text
from pg_control_system() s
where t.system_identifier::text || '/' || t.timeline = @accepted::text
returning t.system_identifier::text || '/' || t.timeline as now
