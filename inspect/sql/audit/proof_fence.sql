-- purpose: prove that tokens are out of order: show the player's postings with the fence.
-- params:  none; the player is filled in
-- result:  the postings in the order of their commits
-- locks:   none
select l.id, l.reward_event_id, l.fence_token, l.lease_owner, l.created_at,
    max(l.fence_token) over (order by l.id rows between unbounded preceding and 1 preceding)
        as highest_before,
    f.last_token as fence, f.last_owner as fence_owner
from reward_ledger l
left join reward_fence f on f.resource || '' = 'reward:' || {player_value}
where l.player_id || '' = {player_value} and l.reverses is null
order by l.id
