-- purpose: hear of queued rows on this connection.
-- params:  none
-- result:  none
-- locks:   none
listen rewardctl_outbox
