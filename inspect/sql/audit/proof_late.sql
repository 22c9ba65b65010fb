-- purpose: prove that deliveries are overdue: show the oldest.
-- params:  none; the state is filled in
-- result:  the oldest postings of the state, with their age
-- locks:   none
select o.ledger_id, o.state, l.player_id, l.reward_event_id, l.created_at,
    clock_timestamp() - l.created_at as waits, o.attempts, o.last_error
from reward_outbox o
join reward_ledger l on l.id = o.ledger_id
where o.state = {key_value}
order by l.created_at
limit 20
