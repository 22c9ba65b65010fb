-- purpose: count what waits for somebody: deliveries, dead letters, deeds that were cut off.
-- params:  @bound where counting stops
-- result:  one row; oldest_seconds is the age of the oldest posting that waits for delivery, null
--          when none does; critical and findings are of the newest audit that ended
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
        select count(*) from (
            select from reward_outbox where state = 'parked' limit @bound::bigint
        ) as parked
    ) as parked,
    (
        select extract(epoch from statement_timestamp() - l.created_at)::float8
        from reward_outbox o
        join reward_ledger l on l.id = o.ledger_id
        where o.state in ('pending', 'claimed')
        order by o.ledger_id
        limit 1
    ) as oldest_seconds,
    (
        select count(*) from (
            select
            from operator_action i
            where i.phase = 'intent' and i.created_at < statement_timestamp() - interval '1 minute'
                and not exists (select from operator_action r where r.intent = i.id)
            limit @bound::bigint
        ) as cut_off
    ) as cut_off
