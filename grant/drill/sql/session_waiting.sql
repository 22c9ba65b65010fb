-- purpose: find a session that waits for a lock of another.
-- params:  $1 the process id of the session that has the lock
-- result:  one row: the process id of one that waits, 0 when none does
-- locks:   none
select coalesce(min(a.pid), 0)::bigint
from pg_stat_activity a
where $1::integer = any (pg_blocking_pids(a.pid))
