-- purpose: prove what the keys and triggers of a table are: list them.
-- params:  none; the table is filled in
-- result:  one row per index and trigger
-- locks:   none
select c.relname as name, format('unique %s, valid %s, ready %s, live %s, immediate %s',
        i.indisunique, i.indisvalid, i.indisready, i.indislive, i.indimmediate) as state,
    pg_get_indexdef(i.indexrelid) as definition
from pg_index i
join pg_class c on c.oid = i.indexrelid
where i.indrelid = to_regclass({name})
union all
select t.tgname, format('enabled %s', t.tgenabled), pg_get_triggerdef(t.oid)
from pg_trigger t
where t.tgrelid = to_regclass({name}) and not t.tgisinternal
