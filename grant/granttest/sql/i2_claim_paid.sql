-- purpose: I2, the postings of an event are what its applied claim expects, and an event that was
--          posted under a lease has an applied claim. Reversals have no claim.
-- params:  none
-- result:  one line of text per violation
-- locks:   none
with posted as (
    select player_id, reward_event_id, min(kind) as kind, sum(amount) as amount
    from reward_ledger
    where reverses is null
    group by player_id, reward_event_id
), applied as (
    select player_id, reward_event_id, kind, amount
    from reward_claim
    where status = 'applied'
)
select format('player %s, event %s: claimed %s %s, posted %s %s',
              coalesce(a.player_id, p.player_id),
              coalesce(a.reward_event_id, p.reward_event_id),
              coalesce(a.amount::text, 'nothing'), a.kind,
              coalesce(p.amount::text, 'nothing'), p.kind)
from applied a
full join posted p on p.player_id = a.player_id and p.reward_event_id = a.reward_event_id
where (a.kind, a.amount) is distinct from (p.kind, p.amount)
order by 1
