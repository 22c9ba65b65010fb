-- purpose: look again at postings about which the receiver said something odd: a delivery may have
--          arrived in the meantime.
-- params:  @ids the postings
-- result:  one row per posting that is queued
-- locks:   none
select l.id as ledger_id, l.player_id, l.reward_event_id, l.kind, l.amount, l.fence_token,
    l.created_at, ''::text as reverses, o.state, o.doubt, o.attempts, o.delivered_at
from reward_ledger l
join reward_outbox o on o.ledger_id = l.id
where l.id = any (@ids::bigint[])
order by l.id
