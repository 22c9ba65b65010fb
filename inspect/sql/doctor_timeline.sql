-- purpose: tell whether the database is the one on which grants were accepted so far.
-- params:  none
-- result:  one row: the server and its timeline now, and those that were accepted, null when none
-- locks:   none
select s.system_identifier::text as system, reward_timeline_now() as timeline,
    t.system_identifier::text as accepted_system, t.timeline as accepted_timeline,
    t.accepted_at, t.accepted_by
from pg_control_system() s
left join reward_timeline t on true
