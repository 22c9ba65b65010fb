-- purpose: show one posting and its delivery.
-- params:  none; the row of the ledger is filled in
-- result:  one row
-- locks:   none
select l.id, l.player_id, l.reward_event_id, l.kind, l.amount, l.fence_token, l.lease_owner,
    l.actor, l.reason, l.reverses, l.created_at, o.state as delivery, o.attempts, o.delivered_at,
    o.last_error
from reward_ledger l
left join reward_outbox o on o.ledger_id = l.id
where l.id = {id}
