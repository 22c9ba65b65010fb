-- purpose: count what the invariants compare, over everything that the drill's schema holds.
-- params:  $1 the events that are due; the engine makes claims of its own for whatever it is asked
-- result:  one row: the most postings that one event of a player has, events that were not paid
--          exactly what is due, the sum of all postings, the sum of what is due, the balances, how
--          many postings there are, outbox rows of postings, outbox rows without a posting
-- locks:   none
with event as (
    select player_id, reward_event_id, count(*) as postings, sum(amount)::bigint as paid
    from reward_ledger
    group by player_id, reward_event_id
), due as (
    select player_id, reward_event_id, amount
    from reward_claim
    where reward_event_id = any($1::text[])
)
select
    (select coalesce(max(postings), 0) from event) as most,
    (select count(*)
     from event e full join due d using (player_id, reward_event_id)
     where e.paid is distinct from d.amount) as wrong,
    (select coalesce(sum(paid), 0)::bigint from event) as paid,
    (select coalesce(sum(amount), 0)::bigint from due) as expected,
    (select coalesce(sum(amount), 0)::bigint from reward_balance) as balance,
    (select count(*) from reward_ledger) as postings,
    (select count(*) from reward_ledger l join reward_outbox o on o.ledger_id = l.id) as queued,
    (select count(*) from reward_outbox o
     where not exists (select from reward_ledger l where l.id = o.ledger_id)) as stray
