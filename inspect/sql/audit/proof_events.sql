-- purpose: prove findings about events: show the rows. Joining nothing to a column keeps the
--          server from using an index that may have lost a row.
-- params:  none; the table, its columns, the player and the events are filled in
-- result:  the rows
-- locks:   none
select l.ctid, row_to_json(l) as row
from {table} l
where {player_match} and {event} || '' in ({event_values})
order by l.ctid
