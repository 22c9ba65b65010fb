-- purpose: count what the invariants compare, for one event of one player.
-- params:  $1 player, $2 event
-- result:  one row: postings of the event, their sum, the expected reward, the balance, the
--          player's ledger sum, outbox rows of the postings, outbox rows without a posting
-- locks:   none
select
    (select count(*) from reward_ledger
     where player_id = $1 and reward_event_id = $2) as postings,
    (select coalesce(sum(amount), 0)::bigint from reward_ledger
     where player_id = $1 and reward_event_id = $2) as paid,
    (select amount from reward_claim
     where player_id = $1 and reward_event_id = $2) as expected,
    (select coalesce(sum(amount), 0)::bigint from reward_balance
     where player_id = $1) as balance,
    (select coalesce(sum(amount), 0)::bigint from reward_ledger
     where player_id = $1) as ledger_sum,
    (select count(*) from reward_ledger l join reward_outbox o on o.ledger_id = l.id
     where l.player_id = $1) as queued,
    (select count(*) from reward_outbox o
     where not exists (select from reward_ledger l where l.id = o.ledger_id)) as stray
