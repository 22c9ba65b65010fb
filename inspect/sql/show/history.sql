-- purpose: show the newest postings of a player, each with its delivery.
-- params:  none; the player is filled in
-- result:  up to a hundred rows, newest first
-- locks:   none
select l.id, l.reward_event_id, l.kind, l.amount, l.fence_token, l.lease_owner, l.actor,
    l.reason, l.reverses, l.created_at, o.state as delivery
from reward_ledger l
left join reward_outbox o on o.ledger_id = l.id
where l.player_id = {text}
order by l.created_at desc, l.id desc
limit 100
