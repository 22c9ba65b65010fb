-- purpose: sum all postings of a player, unless there are very many: the audit sums those.
-- params:  @player the player
-- result:  one row per kind; instead one row without a kind when the player has more than 10,000
--          postings
-- locks:   none
with part as materialized (
    select kind, amount from reward_ledger where player_id = @player::text limit 10001
), many as (
    select count(*) > 10000 as is_so from part
)
select case when many.is_so then '' else part.kind end as kind, sum(part.amount)::bigint as amount
from part cross join many
group by 1
