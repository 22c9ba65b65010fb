-- purpose: what was refused under a resource's tokens.
-- params:  @resource the resource; @limit how many
-- result:  the newest refusals, newest first
-- locks:   none
select id, outcome, token, owner, player_id, reward_event_id, kind, amount, fence_token,
    fence_owner, have_kind, have_amount, created_at
from grant_refusal
where resource = @resource::text
order by id desc
limit @limit::bigint
