-- purpose: write down what became of claimed rows, each only if the claim still has it. Marking
--          the same claim again changes nothing and answers the same, so a lost answer is
--          harmless.
-- params:  parallel arrays: $1 ledger id, bigint[]; $2 claim id, uuid[]; $3 new state, text[];
--          $4 wait before the next attempt in ms, bigint[]; $5 whether it is a strike,
--          boolean[]; $6 whether it may have arrived all the same, boolean[]; $7 verdict,
--          text[]; $8 detail, text[]; $9 whether the receiver was asked first, boolean[]; $10,
--          $11 begin and end of the attempt, timestamptz[]; then $12 relay, text; $13 sink, text
-- result:  per row: the ledger id, and whether the claim still had it
-- locks:   the outbox rows, in order of their ids
with report as materialized (
    select u.ledger_id, u.claim_id, u.state, u.wait, u.strike, u.doubt, u.verdict, u.detail,
        u.probed, u.began, u.ended
    from unnest($1::bigint[], $2::uuid[], $3::text[], $4::bigint[], $5::boolean[], $6::boolean[],
                $7::text[], $8::text[], $9::boolean[], $10::timestamptz[], $11::timestamptz[])
        as u (ledger_id, claim_id, state, wait, strike, doubt, verdict, detail, probed, began,
              ended)
), held as materialized (
    select o.ledger_id, o.state, o.claim_id, o.attempts
    from reward_outbox o
    where o.ledger_id = any ($1::bigint[])
    order by o.ledger_id
    for update
), marked as (
    update reward_outbox o
    set state = r.state, attempts = h.attempts + 1, strikes = o.strikes + r.strike::integer,
        doubt = r.doubt,
        next_attempt_at = case when r.state = 'pending'
            then clock_timestamp() + r.wait * interval '1 millisecond' end,
        claimed_by = null, claimed_until = null,
        delivered_at = case when r.state = 'delivered' then clock_timestamp() end,
        -- A delivered row keeps saying that it may have been sent twice.
        last_error = case when r.state = 'delivered' then o.last_error else r.detail end
    from report r
    join held h on h.ledger_id = r.ledger_id and h.claim_id = r.claim_id and h.state = 'claimed'
    where o.ledger_id = h.ledger_id
), noted as (
    insert into reward_outbox_attempt as a (ledger_id, claim_id, attempt, relay, sink, verdict,
        detail, probed, kept, started_at, ended_at)
    select r.ledger_id, r.claim_id, h.attempts + 1, $12::text, $13::text, r.verdict,
        nullif(r.detail, ''), r.probed, h.claim_id = r.claim_id, r.began, r.ended
    from report r
    join held h on h.ledger_id = r.ledger_id
    on conflict (ledger_id, claim_id) do update
        -- The relay that was thought to have vanished has come back and knows more.
        set verdict = excluded.verdict, detail = excluded.detail, sink = excluded.sink,
            probed = excluded.probed, started_at = excluded.started_at,
            ended_at = excluded.ended_at
        where a.verdict = 'lost'
)
select r.ledger_id, coalesce(h.claim_id = r.claim_id, false) as kept
from report r
left join held h on h.ledger_id = r.ledger_id
