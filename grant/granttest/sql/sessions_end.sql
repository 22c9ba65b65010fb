-- purpose: end the sessions a test left behind, such as those whose client hung up mid-flight, so
--          that they do not hold locks in a schema that is to be dropped.
-- params:  @application_name: the name that all sessions of the test carry
-- result:  one row: how many sessions there were
-- locks:   none
select count(pg_terminate_backend(pid))
from pg_stat_activity
where application_name = @application_name and pid <> pg_backend_pid()
