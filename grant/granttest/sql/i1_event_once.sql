-- purpose: I1, an event is posted at most once per player.
-- params:  none
-- result:  one line of text per violation
-- locks:   none
select format('player %s, event %s: posted %s times', player_id, reward_event_id, count(*))
from reward_ledger
group by player_id, reward_event_id
having count(*) > 1
order by 1
