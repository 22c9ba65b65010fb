-- purpose: read postings that are queued, and how their delivery stands, in order of their ids.
-- params:  @after the id after which to begin; @until the id before which to end; @since postings
--          from this time on, null for all; @limit how many
-- result:  one row per posting
-- locks:   none
select l.id as ledger_id, l.player_id, l.reward_event_id, l.kind, l.amount, l.fence_token,
    l.created_at, coalesce(r.reward_event_id, '') as reverses, o.state, o.doubt, o.attempts,
    o.delivered_at
from reward_ledger l
join reward_outbox o on o.ledger_id = l.id
left join reward_ledger r on r.id = l.reverses
where l.id > @after::bigint and l.id < @until::bigint
  and (@since::timestamptz is null or l.created_at >= @since::timestamptz)
order by l.id
limit @limit::bigint
