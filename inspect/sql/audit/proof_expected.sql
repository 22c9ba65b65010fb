-- purpose: prove that claim and postings of an event do not fit: show both.
-- params:  none; player and event are filled in
-- result:  one row per claim and posting
-- locks:   none
select 'reward_claim' as source, c.status, c.kind, c.amount, c.updated_at as at
from reward_claim c
where c.player_id || '' = {player_value} and c.reward_event_id || '' in ({event_values})
union all
select 'reward_ledger', null, l.kind, l.amount, l.created_at
from reward_ledger l
where l.player_id || '' = {player_value} and l.reward_event_id || '' in ({event_values})
  and l.reverses is null
