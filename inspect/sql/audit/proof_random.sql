-- purpose: prove that ids hold a part that is made anew on every try: show some.
-- params:  none; the table, its columns and the events are filled in
-- result:  the rows of the ids that were found
-- locks:   none
select l.ctid, row_to_json(l) as row
from {table} l
where {event} || '' in ({event_values})
