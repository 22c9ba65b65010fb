-- purpose: read the rows behind hashes that occurred more than once, and keep those whose keys are
--          really equal.
-- params:  @hashes the hashes; the part, the table and its columns are filled in
-- result:  evidence rows, those of one finding together
-- locks:   none
select 'duplicate' as word, '' as key, d.player, d.event, d.is_new, d.copies as total, d.places,
    null::json as evidence
from (
    select {player} as player, {event} as event, {new l} as is_new, {row} as row_order,
        array['{table_name} ' || l.ctid::text || ' ' || l.tableoid::text] as places,
        count(*) over (partition by {player}, {event}) as copies
    from {table} l
    where {in_part} and {keyed} and {changed}
      and hashtextextended({event}, hashtextextended({player}, 0)) = any (@hashes::bigint[])
) as d
where d.copies > 1
order by d.player, d.event, d.row_order
