-- purpose: tell what a player has, as kept and as summed from the ledger.
-- params:  @player the player
-- result:  one row per kind, by kind
-- locks:   none
select coalesce(kept.kind, posted.kind) as kind, coalesce(kept.amount, 0) as amount,
    coalesce(posted.amount, 0) as ledger
from (
    select b.kind, b.amount from reward_balance b where b.player_id = @player::text
) as kept
full join (
    select l.kind, sum(l.amount)::bigint as amount
    from reward_ledger l
    where l.player_id = @player::text
    group by l.kind
) as posted on posted.kind = kept.kind
order by 1
