-- purpose: post a reward the naive way, with all that belongs to it and nothing that could refuse
--          it. For control runs.
-- params:  $1 player, $2 event, $3 kind, $4 amount, $5 token, $6 owner, $7 drill
-- result:  one row: the id of the posting
-- locks:   the balance row and the claim row
with posted as (
    insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token, lease_owner,
                               actor, reason)
    values ($1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::text, 'drill', $7::text)
    returning id, player_id, reward_event_id, kind, amount, fence_token
), added as (
    insert into reward_balance as b (player_id, kind, amount)
    select player_id, kind, amount from posted
    on conflict (player_id, kind) do update
        set amount = b.amount + excluded.amount, version = b.version + 1
), queued as (
    insert into reward_outbox (ledger_id) select id from posted
), marked as (
    update reward_claim c
    set status = 'applied', fence_token = p.fence_token
    from posted p
    where c.player_id = p.player_id and c.reward_event_id = p.reward_event_id
)
select id from posted
