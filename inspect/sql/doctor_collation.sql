-- purpose: compare the sort rules that text indexes were built with to those of today.
-- params:  none
-- result:  one row per rule that changed: the database's own, and named ones used by our indexes
-- locks:   none
select d.datname::text as name, true as of_database, d.datcollversion as recorded,
    pg_database_collation_actual_version(d.oid) as actual
from pg_database d
where d.datname = current_database() and d.datcollversion is not null
  and d.datcollversion is distinct from pg_database_collation_actual_version(d.oid)
union all
select o.collname::text, false, o.collversion, pg_collation_actual_version(o.oid)
from pg_collation o
where o.collversion is not null and o.collprovider <> 'd'
  and o.collversion is distinct from pg_collation_actual_version(o.oid)
  and exists (
      select from pg_index i
      join pg_class c on c.oid = i.indrelid
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = current_schema() and o.oid = any(i.indcollation))
order by 2 desc, 1
