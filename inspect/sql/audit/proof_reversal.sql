-- purpose: prove that reversals do not fit their posting: show both.
-- params:  none; the posting is filled in
-- result:  the posting, if there is one, and what takes it back
-- locks:   none
select l.id, l.reverses, l.player_id, l.reward_event_id, l.kind, l.amount, l.created_at
from reward_ledger l
where l.id + 0 = {key} or l.reverses + 0 = {key}
order by l.id
