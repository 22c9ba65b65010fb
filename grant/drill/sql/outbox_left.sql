-- purpose: count the postings that have not been delivered.
-- params:  none
-- result:  one row: how many
-- locks:   none
select count(*) from reward_outbox where state <> 'delivered'
