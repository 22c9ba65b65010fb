-- purpose: look up a table of the studio's own and the columns that the configuration names.
-- params:  @relation the table, quoted; @columns the names of the columns
-- result:  one row per column, in order: what kind of relation it is ('' when there is none),
--          whether the column is there, the name of its type and the type's category
-- locks:   none
select coalesce(c.relkind::text, '') as relkind, want.name,
    a.attname is not null as found, coalesce(format_type(a.atttypid, a.atttypmod), '') as type,
    coalesce(t.typcategory::text, '') as category
from unnest(@columns::text[]) with ordinality as want (name, n)
left join pg_class c on c.oid = to_regclass(@relation::text)
left join pg_attribute a on a.attrelid = c.oid and a.attname = want.name and a.attnum > 0
    and not a.attisdropped
left join pg_type t on t.oid = a.atttypid
order by want.n
