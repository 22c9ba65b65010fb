-- purpose: count the postings and refusals of the last minutes for a glance. Only the newest rows
--          are looked at, so that the answer costs the same on a ledger of any length.
-- params:  @minutes how many minutes; @bound how many rows of each table to look at
-- result:  one row per minute and table that has any: how many minutes ago, and how many rows;
--          bounded is true when the rows that were looked at did not reach back far enough
-- locks:   none
with posted as (
    select 'posting' as what, created_at
    from (select created_at from reward_ledger order by id desc limit @bound::bigint) as newest
), refused as (
    select 'refusal' as what, created_at
    from (select created_at from grant_refusal order by id desc limit @bound::bigint) as newest
), both_tables as (
    select what, created_at from posted union all select what, created_at from refused
), looked as (
    select what, count(*) >= @bound::bigint
        and min(created_at) > statement_timestamp() - make_interval(mins => @minutes::int)
        as bounded
    from both_tables
    group by what
)
select b.what, floor(extract(epoch from statement_timestamp() - b.created_at) / 60)::int as ago,
    count(*) as amount, bool_or(l.bounded) as bounded
from both_tables b
join looked l on l.what = b.what
where b.created_at > statement_timestamp() - make_interval(mins => @minutes::int)
    and b.created_at <= statement_timestamp()
group by b.what, ago
