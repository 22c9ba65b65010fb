-- purpose: tell the ages of what is to be sent. Only the oldest rows are looked at, so that the
--          answer costs the same with a backlog of any length.
-- params:  @bounds the ages that divide them, in seconds, rising; @bound how many rows to look at
-- result:  one row per range of ages that has any: how many of the bounds the rows are at or above,
--          and how many rows
-- locks:   none
with looked as (
    select o.ledger_id
    from reward_outbox o
    where o.state <> 'delivered' and o.state in ('pending', 'claimed')
    order by o.ledger_id
    limit @bound::bigint
)
select width_bucket(
        greatest(extract(epoch from clock_timestamp() - l.created_at)::float8, 0),
        @bounds::float8[]) as age,
    count(*) as amount
from looked o
join reward_ledger l on l.id = o.ledger_id
group by age
