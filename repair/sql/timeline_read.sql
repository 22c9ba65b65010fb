-- purpose: read which server and timeline grants are accepted on, and which the database is on.
-- params:  none
-- result:  one row of two pairs server/timeline; accepted is empty when no pair ever was
-- locks:   none
select coalesce(t.system_identifier::text || '/' || t.timeline, '') as accepted,
    s.system_identifier::text || '/' || reward_timeline_now() as now
from pg_control_system() s
left join reward_timeline t on true
