-- purpose: find sessions that hold back clean-up or locks: long transactions.
-- params:  none
-- result:  one row: sessions of others whose state this account may not see, and the longest open
--          transaction of the rest; nulls when there is none
-- locks:   none
select count(*) filter (where s.state is null) as hidden,
    (max(extract(epoch from clock_timestamp() - s.xact_start)))::double precision as seconds,
    (array_agg(s.pid order by s.xact_start) filter (where s.xact_start is not null))[1] as pid,
    (array_agg(coalesce(s.application_name, '') || ', ' || s.state order by s.xact_start)
        filter (where s.xact_start is not null))[1] as session
from pg_stat_activity s
where s.datname = current_database() and s.backend_type = 'client backend'
  and s.pid <> pg_backend_pid()
