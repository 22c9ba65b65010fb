-- purpose: count the writes that the fence refused in the last minutes, for a glance. The newest are
--          found in an index that holds nothing else.
-- params:  @minutes how many minutes; @bound how many of them to look at
-- result:  one row per minute and outcome that has any: how many minutes ago, and how many; bounded
--          is true when there are more than were looked at
-- locks:   none
with looked as (
    select outcome, created_at
    from grant_refusal
    where outcome in ('stale_token', 'token_collision')
        and created_at > statement_timestamp() - make_interval(mins => @minutes::int)
        and created_at <= statement_timestamp()
    order by created_at desc
    limit @bound::bigint
)
select outcome as what,
    floor(extract(epoch from statement_timestamp() - created_at) / 60)::int as ago,
    count(*) as amount, (select count(*) from looked) >= @bound::bigint as bounded
from looked
group by outcome, ago
