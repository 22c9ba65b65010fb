-- purpose: stream the ids that may hold a part that is random or the time of the try. Whether they
--          do is decided by the reader.
-- params:  none; the table and its columns are filled in
-- result:  one row per id, in no order
-- locks:   none
select {player} as player, {event} as event,
    '{table_name} ' || l.ctid::text || ' ' || l.tableoid::text as place
from {table} l
where {keyed} and {new l}
  and {event} ~*
      ('[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-|[0-9a-z]{26}|[0-9]{10}|'
          '[0-9]{4}-?[0-9]{2}-?[0-9]{2}[t_ -]?[0-9]{2}[:-]?[0-9]{2}')
