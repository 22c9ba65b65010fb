-- purpose: tell how delivery stands.
-- params:  @bound where counting stops
-- result:  one row: postings that wait, given up, and when the oldest of those that wait was made;
--          null when none waits
-- locks:   none
select (
        select count(*) from (
            select from reward_outbox where state in ('pending', 'claimed') limit @bound::bigint
        ) as waiting
    ) as waiting,
    (
        select count(*) from (
            select from reward_outbox where state = 'dead' limit @bound::bigint
        ) as dead
    ) as dead,
    (
        select l.created_at
        from reward_outbox o
        join reward_ledger l on l.id = o.ledger_id
        where o.state in ('pending', 'claimed')
        order by o.ledger_id
        limit 1
    ) as oldest,
    clock_timestamp() as server_time
