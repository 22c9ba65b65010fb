-- purpose: look a column of the studio's own list of players up in the catalog.
-- params:  @relation the table's name, quoted; @column the column's name
-- result:  one row: is there such a table, and the type of the column, null when there is none
-- locks:   none
select to_regclass(@relation::text) is not null as found,
    (
        select case
                when t.typcategory = 'S' then 'text'
                when t.oid in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) then 'bigint'
                else t.typname::text
            end
        from pg_attribute a
        join pg_type t on t.oid = a.atttypid
        where a.attrelid = to_regclass(@relation::text) and a.attname = @column::text
          and a.attnum > 0 and not a.attisdropped
    ) as type
