-- purpose: claim rows to send; the function's comment tells which.
-- params:  $1 who claims, text; $2 how long, interval; $3 how many rows at most, bigint; $4 how
--          many of them may be retries, bigint; $5 how many players to look at, bigint; $6 the
--          player after whom to begin, text; $7 pass rows that were given up, boolean
-- result:  at least one row; the columns of the function
-- locks:   the rows it claims; locked ones are skipped
select c.place, c.ended, c.due_in_ms, c.ledger_id, c.claim_id, c.attempts, c.strikes, c.doubt,
    c.player_id, c.reward_event_id, c.kind, c.amount, c.fence_token, c.created_at, c.reverses,
    c.reverses_event_id
from reward_outbox_claim($1::text, $2::interval, $3::bigint, $4::bigint, $5::bigint, $6::text,
    $7::boolean) as c
