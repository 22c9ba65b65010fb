-- purpose: prove that a claim waits: show since when.
-- params:  none; player and event are filled in
-- result:  the claim and how long it has been waiting
-- locks:   none
select c.claim_id, c.status, c.kind, c.amount, c.updated_at,
    clock_timestamp() - c.updated_at as waits
from reward_claim c
where c.player_id || '' = {player_value} and c.reward_event_id || '' in ({event_values})
  and c.status <> 'applied'
