-- purpose: count the writes that the fence refused in the last minutes, for a glance. The newest are
--          found in an index that holds nothing else, and only so many are looked at.
-- params:  @minutes how many minutes; @bound how many of them to look at
-- result:  one row per minute and outcome that has any: how many minutes ago, and how many
-- locks:   none
select outcome as what,
    floor(date_part('epoch', statement_timestamp() - created_at) / 60)::int as ago,
    count(*) as amount
from (
    select outcome, created_at
    from grant_refusal
    where outcome in ('stale_token', 'token_collision')
        and created_at > statement_timestamp() - make_interval(mins => @minutes::int)
        and created_at <= statement_timestamp()
    order by created_at desc
    limit @bound::bigint
) as newest
group by outcome, ago
