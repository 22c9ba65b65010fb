-- purpose: take postings back. A reversal is a negative posting that names the posting it takes
--          back; its event id is made from that posting and the number of the part, so each part
--          is taken back at most once, whoever tries however often. The ids are reserved: nobody
--          can grant under them, in any language.
-- +goose Up

create index reward_ledger_reversals on reward_ledger (reverses) where reverses is not null;

alter table reward_ledger add constraint reward_ledger_reverse_reserved
    check (reverses is not null or not starts_with(reward_event_id, 'reverse:'));

-- +goose StatementBegin
create function reward_reverse(
    -- All arrays are parallel: one entry per reversal, in byte order of (player, kind), then by
    -- posting, no posting twice. Each resource has one lease; leases are numbered from 1.
    p_lease    integer[], -- the number of the reversal's lease
    p_lead     boolean[], -- true for the first reversal of each lease, false for its others
    p_resource text[],
    p_token    bigint[],
    p_owner    text[],
    p_posting  bigint[],  -- the ledger id of the posting to take back
    p_player   text[],    -- player, kind and amount of that posting, as the caller saw them
    p_kind     text[],
    p_posted   bigint[],
    p_part     integer[], -- which part this is: one more than the caller saw taken back
    p_amount   bigint[],  -- how much; 0: all that is left
    p_expect   bigint[],  -- how much the caller saw would be taken; 0: whatever it is
    p_policy   text[],    -- when it is spent: refuse, to-zero (take what is there) or skip
    p_actor    text[],
    p_reason   text[],
    p_resubmit boolean,   -- true: this very batch was sent before and its answer was lost
    p_deed     jsonb      -- the operator's row of the log, completed here; null: none
) returns table (
    ord            bigint, -- the reversal, counted from 1; one row per reversal, in order
    outcome        text,   -- a word of the closed list
    ledger_id      bigint, -- the reversal posted now or found, else null
    taken          bigint, -- what it took back, as a positive number; 0 when it did not
    parts          integer, -- how many parts of the posting are taken back now
    rest           bigint, -- what is left to take back now
    balance_before bigint,
    balance_after  bigint,
    event          text,   -- what the posting to take back was for, null when it is not there
    have_token     bigint, -- of the reversal posted now or found
    have_owner     text,
    have_actor     text,
    have_reason    text,
    have_at        timestamptz,
    fence_token    bigint, -- the accepted fence of a refused token, else null
    fence_owner    text
)
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
-- purpose: advance the fences as reward_grant does, then take back one posting after the other,
--          then write down the deed. Each step is a statement of its own: under READ COMMITTED it
--          then sees what was committed while the one before it waited for a lock.
-- locks:   fence rows by resource, then balance rows for update by (player, kind), each before
--          the parts of its postings are counted; the log last. Grants lock fences, then keys
--          that are no reversal's, then balances in the same order: no cycle is possible.
-- errors:  any error undoes the whole call.
#variable_conflict use_column
declare
    v_at       timestamptz := now();
    v_passed   boolean[]; -- per lease; null: all of them
    v_balance  bigint;
    v_post     record;
    v_back     bigint;
    v_mine     record;
    v_want     bigint;
    v_take     bigint;
    v_moved    bigint := 0; -- reversals posted by this call
    v_sum      bigint := 0; -- what they took back
    v_words    text[] := '{}';
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'reward_reverse needs READ COMMITTED'
            using errcode = 'invalid_transaction_state';
    end if;
    perform reward_timeline_check();
    if current_setting('synchronous_commit') = 'off' then
        perform set_config('synchronous_commit', 'on', true);
    end if;

    -- 1. The fences.
    v_passed := reward_fence_advance(p_lease, p_lead, p_resource, p_token, p_owner);

    -- 2. One posting after the other.
    for n in 1 .. cardinality(p_posting) loop
        ord := n;
        ledger_id := null; taken := 0; parts := 0; rest := 0; event := null;
        balance_before := null; balance_after := null;
        have_token := null; have_owner := null; have_actor := null; have_reason := null;
        have_at := null; fence_token := null; fence_owner := null;

        if v_passed is not null and not v_passed[p_lease[n]] then
            select f.last_token, f.last_owner into fence_token, fence_owner
            from reward_fence f where f.resource = p_resource[n];
            outcome := case when fence_token > p_token[n] then 'stale_token'
                            else 'token_collision' end;
            insert into grant_refusal (outcome, resource, token, owner, player_id,
                reward_event_id, kind, amount, actor, reason, fence_token, fence_owner,
                created_at)
            values (outcome, p_resource[n], p_token[n], p_owner[n], p_player[n],
                'reverse:' || p_posting[n] || ':' || p_part[n], p_kind[n],
                -coalesce(nullif(p_amount[n], 0), p_posted[n]), p_actor[n], p_reason[n],
                fence_token, fence_owner, v_at);
            v_words := v_words || outcome;
            return next;
            continue;
        end if;

        select b.amount into v_balance from reward_balance b
        where b.player_id = p_player[n] and b.kind = p_kind[n]
        for update;
        balance_before := coalesce(v_balance, 0);
        balance_after := balance_before;
        select l.player_id, l.reward_event_id, l.kind, l.amount, l.reverses into v_post
        from reward_ledger l where l.id = p_posting[n];
        event := v_post.reward_event_id;
        select count(*)::integer, coalesce(-sum(l.amount), 0)::bigint into parts, v_back
        from reward_ledger l where l.reverses = p_posting[n];
        rest := greatest(coalesce(v_post.amount, 0) - v_back, 0);
        -- The part that this is about, or the last one when nothing is left.
        select l.id, l.amount, l.fence_token, l.lease_owner, l.actor, l.reason, l.created_at
        into v_mine
        from reward_ledger l
        where l.reverses = p_posting[n] and l.player_id = p_player[n]
          and (rest = 0 or l.reward_event_id = 'reverse:' || p_posting[n] || ':' || p_part[n])
        order by l.reward_event_id = 'reverse:' || p_posting[n] || ':' || p_part[n] desc,
            l.id desc
        limit 1;

        v_want := case when p_amount[n] = 0 then rest else p_amount[n] end;
        v_take := case when balance_before >= v_want then v_want
                       when p_policy[n] = 'to-zero' then balance_before
                       else 0 end;
        outcome := case
            when v_post.amount is null then 'not_found'
            when v_post.reverses is not null then 'is_reversal'
            when v_post.player_id <> p_player[n] or v_post.kind <> p_kind[n]
                 or v_post.amount <> p_posted[n] then 'changed'
            when p_resubmit and v_mine.fence_token = p_token[n]
                 and v_mine.lease_owner = p_owner[n] then 'reversed'
            when rest = 0 or v_mine.id is not null then 'already_reversed'
            when p_part[n] <> parts + 1 or v_want > rest then 'changed'
            when v_take = 0 and p_policy[n] = 'skip' then 'skipped'
            when v_take = 0 then 'already_spent'
            when p_expect[n] > 0 and v_take <> p_expect[n] then 'changed'
            else 'reversed'
        end;
        if outcome in ('reversed', 'already_reversed') and v_mine.id is not null then
            ledger_id := v_mine.id;
            taken := -v_mine.amount;
            have_token := v_mine.fence_token; have_owner := v_mine.lease_owner;
            have_actor := v_mine.actor; have_reason := v_mine.reason;
            have_at := v_mine.created_at;
        elsif outcome = 'reversed' then
            insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
                lease_owner, actor, reason, reverses, created_at)
            values (p_player[n], 'reverse:' || p_posting[n] || ':' || p_part[n], p_kind[n],
                -v_take, p_token[n], p_owner[n], p_actor[n], p_reason[n], p_posting[n], v_at)
            on conflict (player_id, reward_event_id) do nothing
            returning id into ledger_id;
            if ledger_id is null then
                raise exception 'another posting stands under the id of this reversal: '
                    'player %, reverse:%:%', p_player[n], p_posting[n], p_part[n]
                    using errcode = 'unique_violation';
            end if;
            insert into reward_outbox (ledger_id, player_id) values (ledger_id, p_player[n]);
            update reward_balance as b
            set amount = b.amount - v_take, version = b.version + 1
            where b.player_id = p_player[n] and b.kind = p_kind[n];
            taken := v_take;
            parts := parts + 1;
            rest := rest - v_take;
            balance_after := balance_before - v_take;
            have_token := p_token[n]; have_owner := p_owner[n]; have_actor := p_actor[n];
            have_reason := p_reason[n]; have_at := v_at;
            v_moved := v_moved + 1;
            v_sum := v_sum + v_take;
        end if;
        v_words := v_words || outcome;
        return next;
    end loop;

    -- 3. The log, last: it locks its head until the commit. A batch that was sent before may have
    --    written its row then; what moved only now is written down in any case.
    if p_deed is not null and (v_moved > 0 or not p_resubmit or not exists (
        select from operator_action a
        where a.target = p_deed ->> 'target' and a.action = p_deed ->> 'action'
          and a.arguments ->> 'deed' = p_deed -> 'arguments' ->> 'deed')) then
        insert into operator_action (operator, host, action, target, args_version, arguments,
            observed, before, after, reason, ticket, approval, phase, outcome, command)
        select d.operator, coalesce(d.host, ''), d.action, d.target, coalesce(d.args_version, 1),
            d.arguments, coalesce(d.observed, '{}'),
            case when cardinality(v_words) = 1 then jsonb_build_object(
                'balance', balance_before::text, 'left', (rest + case when v_moved = 1
                    then taken else 0 end)::text) end,
            case when cardinality(v_words) = 1 then jsonb_build_object(
                'balance', balance_after::text, 'left', rest::text,
                'reversal', ledger_id::text, 'taken', taken::text)
            else jsonb_build_object('reversed', v_moved::text, 'taken', v_sum::text) end,
            d.reason, d.ticket, d.approval,
            case when v_moved = 0 and not v_words <@ array['already_reversed', 'skipped',
                'reversed'] then 'denied' else 'result' end,
            (select string_agg(case when cardinality(v_words) = 1 then w.word
                    else w.times || ' ' || w.word end, ', ' order by w.word)
             from (select word, count(*) as times from unnest(v_words) as u (word)
                   group by word) as w),
            d.command
        from jsonb_to_record(p_deed) as d (operator text, host text, action text, target text,
            args_version integer, arguments jsonb, observed jsonb, reason text, ticket text,
            approval bigint, command text);
    end if;
end
$$;
-- +goose StatementEnd

-- +goose Down
drop function reward_reverse(integer[], boolean[], text[], bigint[], text[], bigint[], text[],
    text[], bigint[], integer[], bigint[], bigint[], text[], text[], text[], boolean, jsonb);
alter table reward_ledger drop constraint reward_ledger_reverse_reserved;
drop index reward_ledger_reversals;
