-- purpose: a condition: is the posting no reversal, and was it not reversed?
-- params:  none
-- result:  true or false
-- locks:   none
l.reverses is null and not exists (select from reward_ledger r where r.reverses = l.id)
