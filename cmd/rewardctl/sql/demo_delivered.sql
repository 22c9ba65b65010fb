-- purpose: list what the demo's history says was delivered, before there was an item server
-- params:  none
-- result:  one row per posting, in the order of their ids
-- locks:   none
select l.player_id, l.reward_event_id, l.kind, l.amount, l.fence_token
from reward_ledger l
join reward_outbox o on o.ledger_id = l.id
where o.state = 'delivered'
order by l.id
