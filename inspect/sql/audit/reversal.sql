-- purpose: find reversals that take back what was not posted, from somebody else, or too much.
-- params:  none
-- result:  evidence rows, those of one posting together
-- locks:   none
select 'reversal' as word, r.reverses::text as key, r.player_id as player,
    r.reward_event_id as event, r.is_new, 0::bigint as total,
    array_remove(array[
        case when l.id is not null then 'reward_ledger ' || l.ctid::text || ' ' || l.tableoid::text
        end, r.place], null) as places, null::json as evidence
from (
    select l.reverses, l.player_id, l.reward_event_id, l.kind, {new l} as is_new,
        'reward_ledger ' || l.ctid::text || ' ' || l.tableoid::text as place,
        sum(l.amount) over (partition by l.reverses) as back
    from reward_ledger l
    where l.reverses is not null
) as r
left join reward_ledger l on l.id = r.reverses
where l.id is null or l.reverses is not null or l.player_id <> r.player_id or l.kind <> r.kind
   or l.amount + r.back < 0
order by r.reverses, r.place
