-- purpose: show one grant that was refused, and what stood in its way.
-- params:  none; the refusal is filled in
-- result:  one row
-- locks:   none
select id, outcome, resource, token, owner, player_id, reward_event_id, kind, amount, actor,
    reason, fence_token, fence_owner, have_kind, have_amount, created_at
from grant_refusal
where id = {id}
