-- purpose: prove which sort rules text columns have, and which version they were built with.
-- params:  none
-- result:  the database and its version, recorded and of this machine, with each text column
-- locks:   none
select d.datname, d.datcollate, d.datcollversion as recorded,
    pg_database_collation_actual_version(d.oid) as actual, c.relname, a.attname, o.collname
from pg_database d
cross join pg_class c
join pg_namespace n on n.oid = c.relnamespace and n.nspname = current_schema()
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_collation o on o.oid = a.attcollation
where d.datname = current_database() and c.relkind = 'r'
  and c.relname in ('reward_ledger', 'reward_claim', 'reward_fence', 'reward_balance')
order by c.relname, a.attnum
