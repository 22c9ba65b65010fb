-- purpose: advice for the owner of the tables: queue a posting that was never queued.
-- params:  none; the posting is filled in
-- result:  one row inserted
-- locks:   the row
insert into reward_outbox (ledger_id) values ({key})
