-- purpose: find dead letters, and per state the postings whose delivery is overdue. All are looked
--          at every time: they become late by doing nothing.
-- params:  @after how long a delivery may take
-- result:  evidence rows: one finding per dead letter, and the oldest twelve per other state
-- locks:   none
select case when d.state = 'dead' then 'dead' else 'late' end as word,
    case when d.state = 'dead' then d.ledger_id::text else d.state end as key,
    case when d.state = 'dead' then d.player_id else '' end as player,
    case when d.state = 'dead' then d.reward_event_id else '' end as event, true as is_new,
    case when d.state = 'dead' then 1 else d.total end as total, d.places,
    json_build_array(json_build_object('state', d.state, 'player_id', d.player_id,
        'reward_event_id', d.reward_event_id, 'kind', d.kind, 'amount', d.amount,
        'posted', d.created_at, 'attempts', d.attempts, 'last_error', d.last_error)) as evidence
from (
    select o.state, o.ledger_id, l.player_id, l.reward_event_id, l.kind, l.amount, l.created_at,
        o.attempts, o.last_error, array[]::text[] as places,
        count(*) over (partition by o.state) as total,
        row_number() over (partition by o.state order by l.created_at, l.id) as n
    from reward_outbox o
    join reward_ledger l on l.id = o.ledger_id
    where o.state = 'dead'
       or (o.state <> 'delivered' and l.created_at < statement_timestamp() - @after::interval)
) as d
where d.state = 'dead' or d.n <= 12
order by 1, d.state, d.created_at, d.ledger_id
