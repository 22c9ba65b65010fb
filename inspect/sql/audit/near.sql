-- purpose: stream the rows that have another one of the same player, kind and amount close in
--          time. Whether their ids mean the same is decided by the reader.
-- params:  @within how close in time; the part, the table and its columns are filled in
-- result:  rows in order of player, kind, amount and time
-- locks:   none
select n.player, n.kind, n.amount, n.event, n.at, n.is_new, n.place
from (
    select s.player, s.kind, s.amount, s.event, s.at, s.is_new, s.place, s.row_order,
        s.at - lag(s.at) over same as before, lead(s.at) over same - s.at as after
    from (
        select {player_fold} as player, {kind_fold} as kind, {amount} as amount, {event} as event,
            {at} as at, {new l} as is_new, {row} as row_order,
            '{table_name} ' || l.ctid::text || ' ' || l.tableoid::text as place
        from {table} l
        where {in_part_fold} and {keyed} and {settled} and {changed_fold} and {at} is not null
    ) as s
    window same as (partition by s.player, s.kind, s.amount order by s.at, s.row_order)
) as n
where n.before <= @within::interval or n.after <= @within::interval
order by n.player, n.kind, n.amount, n.at, n.row_order
