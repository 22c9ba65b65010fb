-- purpose: look two columns of the studio's own list of players up in the catalog.
-- params:  @relation the table's name, quoted; @id, @name the columns' names
-- result:  one row: is there such a table, and does it have the columns
-- locks:   none
select to_regclass(@relation::text) is not null as found,
    exists (
        select from pg_attribute a
        where a.attrelid = to_regclass(@relation::text) and a.attname = @id::text
          and a.attnum > 0 and not a.attisdropped
    ) as has_id,
    exists (
        select from pg_attribute a
        where a.attrelid = to_regclass(@relation::text) and a.attname = @name::text
          and a.attnum > 0 and not a.attisdropped
    ) as has_name
