-- purpose: tell whether the database is the one that answered the grants before.
-- params:  none
-- result:  one row: the server's identifier and timeline now, and those that were accepted, null
--          when none was
-- locks:   none
select s.system_identifier::text as server, reward_timeline_now() as timeline,
    t.system_identifier::text as known_server, t.timeline as accepted
from pg_control_system() s
left join reward_timeline t on true
