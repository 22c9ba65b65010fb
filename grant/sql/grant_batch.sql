-- purpose: grant a batch: see the function reward_grant in the migrations.
-- params:  $1-$11 lease number, lead, resource, token, owner, player, event, kind, amount, actor,
--          reason: parallel arrays, one entry per item, in byte order of (player, event), no key
--          twice; $12 whether the batch was sent before
-- result:  one row per item, in order: its outcome, and what is there
-- locks:   fences, then ledger and claim keys, then balances, each in key order
select ord, outcome, ledger_id, have_kind, have_amount, have_token, have_owner, have_actor,
    have_reason, have_at, fence_token, fence_owner
from reward_grant($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
