-- purpose: read whole rows by their places, seen by this very transaction.
-- params:  @places the physical places; the table is filled in
-- result:  one row per place: the place and the row as JSON, columns in their order
-- locks:   none
select l.ctid::text || ' ' || l.tableoid::text as place, row_to_json(l)::text as row
from {table} l
where l.ctid = any (@places::text[]::tid[])
