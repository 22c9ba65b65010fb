-- purpose: load past postings of the demo, so that its players have a history: ledger, claim,
--          balance, outbox and fence agree with each other as the engine leaves them
-- params:  $1 player text[], $2 event text[], $3 kind text[], $4 amount bigint[],
--          $5 age interval[] (how long ago), $6 actor text[], $7 reason text[],
--          $8 how many of the newest postings are still waiting for delivery, bigint
-- result:  one row: how many postings were loaded now
-- locks:   the rows it inserts; only the demo's own database is used
with item as (
    select u.n, u.player, u.event, u.kind, u.amount, now() - u.age as at, u.actor, u.reason,
           row_number() over (partition by u.player order by u.age desc, u.n) as token,
           row_number() over (order by u.age, u.n) as newest
    from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::interval[], $6::text[],
                $7::text[])
        with ordinality as u (player, event, kind, amount, age, actor, reason, n)
), posted as (
    insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token, lease_owner,
                               actor, reason, created_at)
    select player, event, kind, amount, token, actor || '#' || md5(player || event), actor, reason,
           at
    from item
    order by item.newest desc
    on conflict (player_id, reward_event_id) do nothing
    returning id, player_id, reward_event_id, kind, amount, fence_token, lease_owner, created_at
), claimed as (
    insert into reward_claim (player_id, reward_event_id, kind, amount, fence_token, status,
                              updated_at)
    select player_id, reward_event_id, kind, amount, fence_token, 'applied', created_at
    from posted
), balanced as (
    insert into reward_balance as b (player_id, kind, amount)
    select player_id, kind, sum(amount) from posted group by player_id, kind
    on conflict (player_id, kind) do update
        set amount = b.amount + excluded.amount, version = b.version + 1
), queued as (
    insert into reward_outbox (ledger_id, player_id, state, attempts, delivered_at, last_error)
    select p.id, p.player_id,
           case when i.newest > $8::bigint then 'delivered' else 'pending' end,
           case when i.newest > $8::bigint then 1 when i.newest % 9 = 0 then 3 else 0 end,
           case when i.newest > $8::bigint then p.created_at + interval '2 seconds' end,
           case when i.newest <= $8::bigint and i.newest % 9 = 0
                then 'item server answered 503' end
    from posted p
    join item i on i.player = p.player_id and i.event = p.reward_event_id
), fenced as (
    insert into reward_fence as f (resource, last_token, last_owner, updated_at)
    select distinct on (player_id) 'reward:' || player_id, fence_token, lease_owner, created_at
    from posted
    order by player_id, fence_token desc
    on conflict (resource) do update
        set last_token = excluded.last_token, last_owner = excluded.last_owner,
            updated_at = excluded.updated_at
        where f.last_token < excluded.last_token
)
select count(*) from posted
