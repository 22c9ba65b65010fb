-- purpose: advice for the owner of the tables: take a row without a posting out of the queue.
-- params:  none; the posting is filled in
-- result:  one row deleted
-- locks:   the row
delete from reward_outbox where ledger_id = {key} and state <> 'delivered'
