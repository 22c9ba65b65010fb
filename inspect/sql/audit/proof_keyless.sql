-- purpose: prove that rows lack a player or an event id: show them.
-- params:  none; the table and its columns are filled in
-- result:  the rows
-- locks:   none
select l.ctid, row_to_json(l) as row
from {table} l
where not coalesce({keyed}, false)
order by l.ctid
