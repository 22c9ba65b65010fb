-- purpose: find postings that are not queued for delivery exactly once, and queued rows without a
--          posting.
-- params:  none; the part is filled in
-- result:  evidence rows
-- locks:   none
select case when l.id is null then 'orphan' when q.ledger_id is null then 'unqueued'
        else 'queued_twice' end as word, coalesce(l.id, q.ledger_id)::text as key,
    coalesce(l.player_id, '') as player, coalesce(l.reward_event_id, '') as event,
    coalesce(l.is_new, false) or coalesce(q.is_new, false) as is_new, 0::bigint as total,
    l.place || q.places as places, null::json as evidence
from (
    select l.id, l.player_id, l.reward_event_id, {new l} as is_new,
        array['reward_ledger ' || l.ctid::text || ' ' || l.tableoid::text] as place
    from reward_ledger l
    where hashint8extended(l.id, 0) & {mask} = {part}
) as l
full join (
    select l.ledger_id, bool_or({new l}) as is_new, count(*) as copies,
        array_agg('reward_outbox ' || l.ctid::text || ' ' || l.tableoid::text) as places
    from reward_outbox l
    where hashint8extended(l.ledger_id, 0) & {mask} = {part}
    group by l.ledger_id
) as q on q.ledger_id = l.id
where l.id is null or q.ledger_id is null or q.copies > 1
order by coalesce(l.id, q.ledger_id)
