-- purpose: describe, for each key that the engine relies on, the best index on exactly its columns.
-- params:  @relations the tables; @columns beside each its key columns, sorted, joined by commas
-- result:  one row per key, in order; the index columns are null when there is no such index
-- locks:   none
select want.relation, want.columns, to_regclass(want.relation) is not null as has_table,
    coalesce(key.nullable, '') as nullable, key.name, coalesce(key.is_unique, false) as is_unique,
    coalesce(key.is_valid, false) as is_valid, coalesce(key.is_ready, false) as is_ready,
    coalesce(key.is_live, false) as is_live, coalesce(key.is_immediate, false) as is_immediate,
    coalesce(key.is_whole, false) as is_whole, coalesce(key.not_c, '') as not_c
from unnest(@relations::text[], @columns::text[]) with ordinality as want (relation, columns, n)
left join lateral (
    select c.oid::regclass::text as name, i.indisunique as is_unique, i.indisvalid as is_valid,
        i.indisready as is_ready, i.indislive as is_live, i.indimmediate as is_immediate,
        i.indpred is null and i.indexprs is null as is_whole, part.nullable, part.not_c
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    cross join lateral (
        select string_agg(a.attname::text, ',' order by a.attname) as columns,
            string_agg(a.attname::text, ', ' order by a.attname)
                filter (where not a.attnotnull) as nullable,
            string_agg(a.attname::text, ', ' order by a.attname)
                filter (where o.oid is not null and o.collname not in ('C', 'POSIX')
                    and not coalesce(o.collprovider = 'd' and d.datcollate in ('C', 'POSIX')
                        and d.datlocprovider = 'c', false)) as not_c
        from generate_series(0, i.indnkeyatts - 1) as k (n)
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[k.n]
        left join pg_collation o on o.oid = i.indcollation[k.n]
        join pg_database d on d.datname = current_database()
    ) as part
    where i.indrelid = to_regclass(want.relation) and part.columns = want.columns
    order by i.indisunique and i.indisvalid and i.indisready and i.indislive and i.indimmediate
        and i.indpred is null and i.indexprs is null desc, i.indisunique desc, c.relname
    limit 1
) as key on true
order by want.n
