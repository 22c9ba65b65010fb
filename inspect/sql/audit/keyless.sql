-- purpose: find the rows without an event id or a player: nothing can tell whether they were paid
--          twice.
-- params:  none; the table and its columns are filled in
-- result:  up to twelve evidence rows and the number of all, as one finding
-- locks:   none
select 'keyless' as word, '' as key, '' as player, '' as event,
    true as is_new, count(*) over () as total,
    array['{table_name} ' || l.ctid::text || ' ' || l.tableoid::text] as places,
    null::json as evidence
from {table} l
where not coalesce({keyed}, false) and {new l}
limit 12
