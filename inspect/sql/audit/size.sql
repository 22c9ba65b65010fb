-- purpose: estimate how many rows a table has, from its size and what the last ANALYZE saw.
-- params:  @relation the table's name, quoted where needed
-- result:  one row, rows is 0 when the table does not exist
-- locks:   none
select coalesce(sum(case
        when c.reltuples > 0 and c.relpages > 0
            then c.reltuples / c.relpages * (pg_relation_size(c.oid) / 8192)
        else pg_relation_size(c.oid) / 120
    end), 0)::bigint as rows
from pg_class c
where c.oid = to_regclass(@relation::text)
   or c.oid in (select t.relid from pg_partition_tree(to_regclass(@relation::text)) as t
                where t.isleaf)
