-- purpose: grant a batch in which operators act: see the function reward_grant_logged in the
--          migrations.
-- params:  $1-$12 as in grant_batch.sql; $13 per item the operator's row of the log, or null
-- result:  one row per item, in order: its outcome, what is there, and the row of the log
-- locks:   as grant_batch.sql, then the head of the operator log, until the transaction ends
select ord, outcome, ledger_id, have_kind, have_amount, have_token, have_owner, have_actor,
    have_reason, have_at, fence_token, fence_owner, action_id
from reward_grant_logged($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
