-- purpose: end a grant transaction that failed, so that its connection can be used again.
-- params:  none
-- result:  none
-- locks:   frees all locks of the transaction
rollback
