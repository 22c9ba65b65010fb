-- purpose: count the writes that the fence refused in the last minutes, for a glance. The newest
--          are found in an index that holds nothing else, and only so many are looked at.
-- params:  @minutes how many minutes; @bound how many of them to look at; @tombstone how the name
--          of the owner begins under which an operator burns a token
-- result:  one row per minute and outcome that has any: how many minutes ago, and how many; a write
--          under a token that was burned counts as late
-- locks:   none
select case when outcome = 'token_collision' and fence_owner like @tombstone::text || '%'
        then 'stale_token' else outcome end as what,
    floor(date_part('epoch', statement_timestamp() - created_at) / 60)::int as ago,
    count(*) as amount
from (
    select outcome, fence_owner, created_at
    from grant_refusal
    where outcome in ('stale_token', 'token_collision')
        and created_at > statement_timestamp() - make_interval(mins => @minutes::int)
        and created_at <= statement_timestamp()
    order by created_at desc
    limit @bound::bigint
) as newest
group by what, ago
