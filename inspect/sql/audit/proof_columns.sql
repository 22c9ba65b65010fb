-- purpose: prove that a table or a column is missing: list the columns that there are.
-- params:  none; the table is filled in
-- result:  one row per column; none when there is no such table
-- locks:   none
select a.attname as "column", format_type(a.atttypid, a.atttypmod) as type
from pg_attribute a
where a.attrelid = to_regclass({name}) and a.attnum > 0 and not a.attisdropped
order by a.attnum
