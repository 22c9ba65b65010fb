-- purpose: the head of the operator log: its chain's name and its last row, as the head knows it.
-- params:  none
-- result:  one row, or none when the head is gone
-- locks:   none
select h.chain, h.last_id, h.hash
from operator_action_head h
