-- purpose: measure what is not delivered.
-- params:  @bound where counting stops
-- result:  one row: counts by lane, each at most @bound; the oldest row that is to be sent and
--          when it was posted, null when there is none; when the next retry is due
-- locks:   none
select
    (select count(*) from (
        select from reward_outbox
        where state = 'pending' and next_attempt_at is null limit @bound::bigint) as f) as fresh,
    (select count(*) from (
        select from reward_outbox
        where state = 'pending' and next_attempt_at is not null
        limit @bound::bigint) as r) as retrying,
    (select count(*) from (
        select from reward_outbox where state = 'claimed' limit @bound::bigint) as c) as claimed,
    (select count(*) from (
        select from reward_outbox
        where state in ('dead', 'parked') and state = 'dead' limit @bound::bigint) as d) as dead,
    (select count(*) from (
        select from reward_outbox
        where state in ('dead', 'parked') and state = 'parked'
        limit @bound::bigint) as p) as parked,
    (select min(o.next_attempt_at) from reward_outbox o
     where o.state = 'pending' and o.next_attempt_at is not null) as next_due,
    oldest.ledger_id as oldest_id, oldest.created_at as oldest_at,
    clock_timestamp() as server_time
from (values (1)) as one (n)
left join lateral (
    select o.ledger_id, l.created_at
    from reward_outbox o
    join reward_ledger l on l.id = o.ledger_id
    where o.state <> 'delivered' and o.state in ('pending', 'claimed')
    order by o.ledger_id
    limit 1) as oldest on true
