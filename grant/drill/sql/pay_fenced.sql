-- purpose: the first line of defence alone: post a reward, with all that belongs to it, if no token
--          above this one was accepted for the resource. A fence that forgets the owner lets two
--          owners of equal tokens pass.
-- params:  $1 player, $2 event, $3 kind, $4 amount, $5 token, $6 owner, $7 drill, $8 resource,
--          $9 whether an equal token has to be of the same owner
-- result:  one row: the id of the posting; no row when the token is refused
-- locks:   the fence row, the balance row and the claim row
with fenced as (
    insert into reward_fence as f (resource, last_token, last_owner)
    values ($8::text, $5::bigint, $6::text)
    on conflict (resource) do update
        set last_token = excluded.last_token, last_owner = excluded.last_owner
        where f.last_token < excluded.last_token
           or (f.last_token = excluded.last_token
               and (not $9::boolean or f.last_owner = excluded.last_owner))
    returning 1
), posted as (
    insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token, lease_owner,
                               actor, reason)
    select $1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::text, 'drill', $7::text
    from fenced
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
