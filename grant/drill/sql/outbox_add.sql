-- purpose: queue the delivery of a posting.
-- params:  $1 the posting's id
-- result:  none
-- locks:   none
insert into reward_outbox (ledger_id) values ($1)
