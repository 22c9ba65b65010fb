-- purpose: compare what was claimed for each event with what was posted for it. Reversals are
--          looked at by their own statement: they take back, and are no part of what was due.
-- params:  none; the part is filled in
-- result:  evidence rows
-- locks:   none
with posted as (
    select l.player_id, l.reward_event_id, min(l.kind) as kind, max(l.kind) as other_kind,
        sum(l.amount) as amount, count(*) as postings, min(l.id) as ledger_id,
        bool_or({new l}) as is_new
    from reward_ledger l
    where {in_part} and l.reverses is null and {changed}
    group by l.player_id, l.reward_event_id
), claimed as (
    select l.player_id, l.reward_event_id, l.kind, l.amount, l.status, l.fence_token, l.updated_at,
        {new l} as is_new
    from reward_claim l
    where {in_part} and {changed}
)
select case
        when p.player_id is null then 'unposted'
        when c.player_id is null then 'unclaimed'
        when c.status <> 'applied' then 'unapplied'
        else 'sum'
    end as word, '' as key, coalesce(c.player_id, p.player_id) as player,
    coalesce(c.reward_event_id, p.reward_event_id) as event,
    coalesce(c.is_new, false) or coalesce(p.is_new, false) as is_new, 0::bigint as total,
    array[]::text[] as places,
    json_build_array(
        case when c.player_id is not null then json_build_object('source', 'reward_claim',
            'kind', c.kind, 'amount', c.amount, 'status', c.status, 'at', c.updated_at) end,
        case when p.player_id is not null then json_build_object('source', 'reward_ledger',
            'kind', case when p.kind = p.other_kind then p.kind else p.kind || ', ' || p.other_kind
                end, 'amount', p.amount, 'postings', p.postings, 'first_id', p.ledger_id) end
    ) as evidence
from posted p
full join claimed c on c.player_id = p.player_id and c.reward_event_id = p.reward_event_id
where (p.player_id is null and c.status = 'applied')
   or c.player_id is null
   or (p.player_id is not null and (c.status <> 'applied' or c.amount <> p.amount
       or c.kind <> p.kind or p.kind <> p.other_kind))
order by 3, 4
