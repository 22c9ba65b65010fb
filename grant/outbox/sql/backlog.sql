-- purpose: measure the backlog, for metrics.
-- params:  $1 where counting stops, bigint
-- result:  one row: rows not delivered by lane, each at most $1, and the age in seconds of the
--          oldest row that is to be sent, 0 when there is none
-- locks:   none
select
    (select count(*) from (
        select from reward_outbox
        where state = 'pending' and next_attempt_at is null limit $1::bigint) as f) as fresh,
    (select count(*) from (
        select from reward_outbox
        where state = 'pending' and next_attempt_at is not null limit $1::bigint) as r) as retrying,
    (select count(*) from (
        select from reward_outbox where state = 'claimed' limit $1::bigint) as c) as claimed,
    (select count(*) from (
        select from reward_outbox
        where state in ('dead', 'parked') and state = 'dead' limit $1::bigint) as d) as dead,
    (select count(*) from (
        select from reward_outbox
        where state in ('dead', 'parked') and state = 'parked' limit $1::bigint) as p) as parked,
    coalesce((
        select extract(epoch from clock_timestamp() - l.created_at)
        from reward_outbox o
        join reward_ledger l on l.id = o.ledger_id
        where o.state <> 'delivered' and o.state in ('pending', 'claimed')
        order by o.ledger_id
        limit 1), 0)::double precision as oldest_seconds
