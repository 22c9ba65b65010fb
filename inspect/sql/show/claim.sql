-- purpose: show one reward that is due.
-- params:  none; the claim is filled in
-- result:  one row
-- locks:   none
select claim_id, player_id, reward_event_id, kind, amount, fence_token, status, updated_at
from reward_claim
where claim_id = {id}
