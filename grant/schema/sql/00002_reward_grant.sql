-- +goose Up
-- +goose StatementBegin
create function reward_fence_advance(
    -- All arrays are parallel. Each resource has one lease; leases are numbered from 1.
    p_lease    integer[], -- the number of the item's lease
    p_lead     boolean[], -- true for the first item of each lease, false for its others
    p_resource text[],
    p_token    bigint[],
    p_owner    text[]
) returns boolean[]       -- whether each lease passed, by its number; null: all did
language plpgsql
-- One plan for every size of batch: planning anew would cost more than a small batch itself.
set plan_cache_mode = force_generic_plan
as $$
-- purpose: advance the fences. A token passes if it is higher than the accepted one, or if it is
--          the accepted one of the very same owner.
-- locks:   the fence rows, in byte order of resource.
declare
    v_advanced bigint;
begin
    insert into reward_fence as f (resource, last_token, last_owner, updated_at)
    select r.resource, r.token, r.owner, now()
    from unnest(p_lead, p_resource, p_token, p_owner) as r (lead, resource, token, owner)
    where r.lead
    order by r.resource collate "C"
    on conflict (resource) do update
        set last_token = excluded.last_token,
            last_owner = excluded.last_owner,
            updated_at = excluded.updated_at
        where f.last_token < excluded.last_token
           or (f.last_token = excluded.last_token and f.last_owner = excluded.last_owner);
    get diagnostics v_advanced = row_count;
    if v_advanced = (select max(n) from unnest(p_lease) as l (n)) then
        return null;
    end if;
    return (
        select array_agg(coalesce(f.last_token = r.token and f.last_owner = r.owner, false)
                         order by r.lease)
        from (
            select u.lease, u.resource, u.token, u.owner
            from unnest(p_lease, p_lead, p_resource, p_token, p_owner)
                as u (lease, lead, resource, token, owner)
            where u.lead) as r
        left join lateral (
            select f.last_token, f.last_owner from reward_fence f
            where f.resource = r.resource offset 0) f on true);
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function reward_grant(
    -- All arrays are parallel: one entry per item, in byte order of (player, event), no key
    -- twice. Each resource has one lease; leases are numbered from 1 in byte order of resource.
    p_lease    integer[], -- the number of the item's lease
    p_lead     boolean[], -- true for the first item of each lease, false for its others
    p_resource text[],
    p_token    bigint[],
    p_owner    text[],
    p_player   text[],
    p_event    text[],
    p_kind     text[],
    p_amount   bigint[],
    p_actor    text[],
    p_reason   text[],
    p_resubmit boolean    -- true: this very batch was sent before and its answer was lost
) returns table (
    ord         bigint,   -- the item, counted from 1; one row per item, in order
    outcome     text,     -- a word of the closed list
    ledger_id   bigint,   -- the posting made now or found, else null
    have_kind   text,     -- what is posted or claimed under the id, else null
    have_amount bigint,
    have_token  bigint,
    have_owner  text,
    have_actor  text,
    have_reason text,
    have_at     timestamptz,
    fence_token bigint,   -- the accepted fence of a refused token, else null
    fence_owner text
)
language plpgsql
-- One plan for every size of batch: planning anew would cost more than a small batch itself.
set plan_cache_mode = force_generic_plan
as $$
-- purpose: advance the fences, post what passed, classify the rest. Each step is a statement of
--          its own: under READ COMMITTED it then sees what was committed while the one before it
--          waited for a lock. A single statement would keep its old snapshot after the wait.
-- locks:   fence rows by resource, then claim and ledger keys by (player, event), then balances
--          by (player, kind): one order for everybody, so two batches cannot deadlock.
-- errors:  any error undoes the whole call. 40001 asks for the call to be repeated; RWT01 says that
--          the database was promoted or restored, see the migration of reward_timeline.
#variable_conflict use_column
declare
    v_at       timestamptz := now();
    v_ids      bigint[];
    v_passed   boolean[]; -- per lease; null: all of them
    v_posted   bigint;
    v_claimed  bigint;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'reward_grant needs READ COMMITTED'
            using errcode = 'invalid_transaction_state';
    end if;
    perform reward_timeline_check();
    if current_setting('synchronous_commit') = 'off' then
        perform set_config('synchronous_commit', 'on', true);
    end if;

    -- 1. The fences.
    v_passed := reward_fence_advance(p_lease, p_lead, p_resource, p_token, p_owner);

    -- 2. The postings. Ledger ids are drawn first, so that the answer needs no join on text; an
    --    item that is not posted leaves a gap, which is harmless.
    select array_agg(nextval('reward_ledger_id_seq')) into v_ids
    from generate_series(1, cardinality(p_player));

    with item as (
        select u.n, u.player, u.event, u.kind, u.amount, u.actor, u.reason, u.token, u.owner
        from unnest(p_lease, p_token, p_owner, p_player, p_event, p_kind, p_amount, p_actor,
                    p_reason)
            with ordinality as u (lease, token, owner, player, event, kind, amount, actor,
                                  reason, n)
        where (v_passed is null or v_passed[u.lease])
          -- A scalar subquery, so that each key is looked up in the index: as a join the
          -- planner would read the whole table for a large batch.
          and coalesce((
              select c.status <> 'applied' and c.fence_token < u.token
                     and c.kind = u.kind and c.amount = u.amount
              from reward_claim c
              where c.player_id = u.player and c.reward_event_id = u.event), true)
        order by u.player collate "C", u.event collate "C"
    ), posted as (
        insert into reward_ledger (id, player_id, reward_event_id, kind, amount, fence_token,
                                   lease_owner, actor, reason, created_at)
        select v_ids[n], player, event, kind, amount, token, owner, actor, reason, v_at
        from item
        on conflict (player_id, reward_event_id) do nothing
        returning id, player_id, reward_event_id, kind, amount, fence_token
    ), claimed as (
        insert into reward_claim as c (player_id, reward_event_id, kind, amount, fence_token,
                                       status, updated_at)
        select player_id, reward_event_id, kind, amount, fence_token, 'applied', v_at
        from posted
        on conflict (player_id, reward_event_id) do update
            set status = 'applied', fence_token = excluded.fence_token,
                updated_at = excluded.updated_at
            where c.status <> 'applied' and c.fence_token < excluded.fence_token
              and c.kind = excluded.kind and c.amount = excluded.amount
        returning 1
    ), balanced as (
        insert into reward_balance as b (player_id, kind, amount)
        select player_id, kind, sum(amount)::bigint
        from posted
        group by player_id, kind
        order by player_id, kind
        on conflict (player_id, kind) do update
            set amount = b.amount + excluded.amount, version = b.version + 1
    ), queued as (
        insert into reward_outbox (ledger_id, player_id) select id, player_id from posted
    )
    select (select count(*) from posted), (select count(*) from claimed)
    into v_posted, v_claimed;
    if v_posted <> v_claimed then
        raise exception 'a claim changed while it was being applied'
            using errcode = 'serialization_failure';
    end if;

    -- 3. The answers. When everything was posted there is nothing to look up.
    if v_posted = cardinality(p_player) then
        return query select t.n::bigint, 'applied'::text, v_ids[t.n], null::text, null::bigint,
            null::bigint, null::text, null::text, null::text, v_at, null::bigint, null::text
        from generate_series(1, cardinality(p_player)) as t (n);
        return;
    end if;
    return query
    with found as (
        select u.n, u.player, u.event, u.kind, u.amount, u.actor, u.reason, u.resource,
               u.token, u.owner,
               v_passed is null or v_passed[u.lease] as passed,
               l.id, coalesce(l.kind, c.kind) as have_kind,
               coalesce(l.amount, c.amount) as have_amount,
               coalesce(l.fence_token, c.fence_token) as have_token, l.lease_owner,
               l.actor as have_actor, l.reason as have_reason, l.created_at,
               f.last_token, f.last_owner, c.fence_token as claim_token,
               c.status as claim_status
        from unnest(p_lease, p_resource, p_token, p_owner, p_player, p_event, p_kind, p_amount,
                    p_actor, p_reason)
            with ordinality as u (lease, resource, token, owner, player, event, kind, amount,
                                  actor, reason, n)
        -- OFFSET 0 keeps each of these a lookup in the index, for the same reason.
        left join lateral (
            select l.id, l.kind, l.amount, l.fence_token, l.lease_owner, l.actor, l.reason,
                   l.created_at
            from reward_ledger l
            where l.player_id = u.player and l.reward_event_id = u.event offset 0) l on true
        left join lateral (
            select c.kind, c.amount, c.fence_token, c.status from reward_claim c
            where c.player_id = u.player and c.reward_event_id = u.event offset 0) c on true
        left join lateral (
            select f.last_token, f.last_owner from reward_fence f
            where f.resource = u.resource offset 0) f on true
    ), judged as (
        select d.*, case
            when d.id = v_ids[d.n] then 'applied'
            -- The same content, too: a lease that is kept may have posted other content before.
            when p_resubmit and d.have_token = d.token and d.lease_owner = d.owner
                 and d.have_kind = d.kind and d.have_amount = d.amount then 'applied'
            when not d.passed and d.last_token > d.token then 'stale_token'
            when d.passed and d.id is null and d.claim_token >= d.token
                 and d.claim_status <> 'applied' then 'stale_token'
            when not d.passed then 'token_collision'
            -- A claim that says applied without a posting: somebody else wrote it. Paying could
            -- pay twice, so an operator has to look.
            when d.have_kind <> d.kind or d.have_amount <> d.amount
                 or (d.id is null and d.claim_status = 'applied') then 'mismatch'
            when d.id is not null then 'replayed'
            end as verdict
        from found d
    ), refused as (
        insert into grant_refusal (outcome, resource, token, owner, player_id, reward_event_id,
            kind, amount, actor, reason, fence_token, fence_owner, have_kind, have_amount,
            created_at)
        select verdict, resource, token, owner, player, event, kind, amount, actor, reason,
            last_token, last_owner, judged.have_kind, judged.have_amount, v_at
        from judged
        where verdict in ('stale_token', 'token_collision', 'mismatch')
        order by n
    )
    select n, verdict, id, judged.have_kind, judged.have_amount, judged.have_token, lease_owner,
        judged.have_actor, judged.have_reason, created_at,
        case when verdict in ('stale_token', 'token_collision')
             then greatest(last_token, claim_token) end,
        case when verdict in ('stale_token', 'token_collision') then last_owner end
    from judged
    order by n;
end
$$;
-- +goose StatementEnd

-- +goose Down
drop function reward_grant(integer[], boolean[], text[], bigint[], text[], text[], text[], text[],
    bigint[], text[], text[], boolean);
drop function reward_fence_advance(integer[], boolean[], text[], bigint[], text[]);
