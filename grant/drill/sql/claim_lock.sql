-- purpose: keep a claim from others, so that a payment has to wait inside its transaction.
-- params:  $1 player, $2 event
-- result:  one row
-- locks:   the claim row, until the transaction ends
select claim_id from reward_claim where player_id = $1 and reward_event_id = $2 for update
