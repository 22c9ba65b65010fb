-- purpose: count the postings and refusals of the last minutes for a glance. Only the newest rows
--          are looked at, so that the answer costs the same on a ledger of any length.
-- params:  @minutes how many minutes; @bound how many rows of each table to look at
-- result:  one row per minute and table that has any: how many minutes ago, and how many rows; what
--          is older than that counts as @minutes ago
-- locks:   none
select 'posting' as what,
    least(floor(date_part('epoch', statement_timestamp() - created_at) / 60),
        @minutes::int)::int as ago,
    count(*) as amount
from (select created_at from reward_ledger order by id desc limit @bound::bigint) as newest
where created_at <= statement_timestamp()
group by ago
union all
select 'refusal',
    least(floor(date_part('epoch', statement_timestamp() - created_at) / 60),
        @minutes::int)::int as ago,
    count(*)
from (select created_at from grant_refusal order by id desc limit @bound::bigint) as newest
where created_at <= statement_timestamp()
group by ago
