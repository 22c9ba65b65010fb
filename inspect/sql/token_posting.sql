-- purpose: what was posted for the player whose resource it is, with tokens and owners.
-- params:  @player the player; @limit how many
-- result:  the newest postings, newest first
-- locks:   none
select id, reward_event_id, kind, amount, fence_token, lease_owner, actor, created_at
from reward_ledger
where player_id = @player::text
order by created_at desc, id desc
limit @limit::bigint
