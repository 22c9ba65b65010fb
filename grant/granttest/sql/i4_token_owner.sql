-- purpose: I4, two owners never both write under one token of a resource. Only a player's own
--          resource can be told from a posting.
-- params:  none
-- result:  one line of text per violation
-- locks:   none
select format('player %s, token %s: written by %s', l.player_id, l.fence_token,
              string_agg(distinct l.lease_owner, ' and '))
from reward_ledger l
join reward_fence f on f.resource = 'reward:' || l.player_id
where l.reverses is null
group by l.player_id, l.fence_token
having count(distinct l.lease_owner) > 1
order by 1
