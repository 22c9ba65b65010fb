-- purpose: prove that a posting and its delivery do not fit: show both.
-- params:  none; the posting is filled in
-- result:  one row per side that is there, or per copy of it
-- locks:   none
select l.id as posting, l.player_id, l.reward_event_id, o.ledger_id as queued, o.state, o.attempts,
    o.last_error
from (select l.id, l.player_id, l.reward_event_id from reward_ledger l where l.id + 0 = {key}) as l
full join (
    select o.ledger_id, o.state, o.attempts, o.last_error
    from reward_outbox o
    where o.ledger_id + 0 = {key}
) as o on o.ledger_id = l.id
