-- purpose: find a key that the ledger holds twice behind its unique index. Run it after
--          doctor_heap.sql: the index would show only one of the two.
-- params:  none
-- result:  the key and its number of rows; none when every key is there once
-- locks:   none
select l.player_id, l.reward_event_id, count(*) as rows
from reward_ledger l
group by l.player_id, l.reward_event_id
having count(*) > 1
limit 1
