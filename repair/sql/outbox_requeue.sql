-- purpose: have rows sent again at once, and wake a sleeping relay. What was given up counts its
--          failures anew; what was delivered is sent without asking.
-- params:  @ids the rows, which are locked
-- result:  one row: how many were changed
-- locks:   the outbox rows, which are locked already
with changed as (
    update reward_outbox o
    set state = 'pending', next_attempt_at = null, strikes = 0, claimed_by = null,
        claimed_until = null, delivered_at = null,
        doubt = (o.doubt or o.state = 'claimed') and o.state <> 'delivered'
    where o.ledger_id = any (@ids::bigint[])
    returning 1
)
select count(*) as rows, pg_notify('rewardctl_outbox', '')::text as woken from changed
