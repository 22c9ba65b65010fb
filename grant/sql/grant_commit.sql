-- purpose: end the grant transaction.
-- params:  none
-- result:  none
-- locks:   frees all locks of the transaction
commit
