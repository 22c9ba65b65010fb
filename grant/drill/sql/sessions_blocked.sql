-- purpose: count the sessions among some that wait for a lock of another session.
-- params:  $1 the process ids of the sessions
-- result:  one row: how many
-- locks:   none
select count(*)
from unnest($1::integer[]) as s (pid)
where cardinality(pg_blocking_pids(s.pid)) > 0
