-- purpose: show what this side knows of a posting that the receiver disagrees about.
-- params:  none; the posting is filled in
-- result:  one row per attempt to deliver it, and one when there was none
-- locks:   none
select l.id as posting, l.player_id, l.reward_event_id, l.kind, l.amount, o.state, o.delivered_at,
    a.attempt, a.sink, a.verdict, a.detail, a.ended_at
from reward_ledger l
join reward_outbox o on o.ledger_id = l.id
left join reward_outbox_attempt a on a.ledger_id = l.id
where l.id + 0 = {key}
order by a.attempt
