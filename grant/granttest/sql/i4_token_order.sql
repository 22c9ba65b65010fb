-- purpose: I4, the tokens accepted for one resource never go down, and the fence is not below
--          them. Ids are drawn while the fence row is locked, so their order is the order of the
--          commits. Only a player's own resource can be told from a posting.
-- params:  none
-- result:  one line of text per violation
-- locks:   none
with posted as (
    select l.player_id, l.id, l.fence_token, f.last_token,
           max(l.fence_token) over (partition by l.player_id order by l.id) as highest
    from reward_ledger l
    join reward_fence f on f.resource = 'reward:' || l.player_id
    where l.reverses is null
)
select format('player %s, posting %s: token %s after token %s, fence %s',
              player_id, id, fence_token, highest, last_token)
from posted
where fence_token < highest or last_token < highest
order by 1
