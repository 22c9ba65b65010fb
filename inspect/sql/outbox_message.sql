-- purpose: read what a posting's message is made of.
-- params:  @ledger_id the posting
-- result:  at most one row
-- locks:   none
select l.player_id, l.reward_event_id, l.kind, l.amount, l.fence_token, l.created_at,
    coalesce((select r.reward_event_id from reward_ledger r where r.id = l.reverses), '')
        as reverses
from reward_ledger l
where l.id = @ledger_id::bigint
