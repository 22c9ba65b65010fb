-- purpose: I2, a balance is the sum of the postings of its player and kind.
-- params:  none
-- result:  one line of text per violation
-- locks:   none
with posted as (
    select player_id, kind, sum(amount) as amount from reward_ledger group by player_id, kind
)
select format('player %s, %s: the balance is %s, the postings add up to %s',
              coalesce(b.player_id, p.player_id), coalesce(b.kind, p.kind),
              coalesce(b.amount::text, 'missing'), coalesce(p.amount::text, 'nothing'))
from reward_balance b
full join posted p on p.player_id = b.player_id and p.kind = b.kind
where coalesce(b.amount, 0) <> coalesce(p.amount, 0)
order by 1
