-- purpose: take postings back: see the function reward_reverse in the migrations.
-- params:  $1-$15 lease number, lead, resource, token, owner, posting, player, kind, posted amount,
--          part, amount, expected amount, policy, actor, reason: parallel arrays, one entry per
--          reversal, in byte order of (player, kind), then by posting, no posting twice;
--          $16 whether the batch was sent before; $17 the operator's log row, or null
-- result:  one row per reversal, in order: its outcome, and what is there
-- locks:   fences, then balances for update in key order, then the head of the operator log
select ord, outcome, ledger_id, taken, parts, rest, balance_before, balance_after, event,
    have_token, have_owner, have_actor, have_reason, have_at, fence_token, fence_owner
from reward_reverse($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
