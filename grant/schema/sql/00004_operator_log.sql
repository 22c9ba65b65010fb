-- purpose: chain the operator log. Each row carries its place (id, gap-free from 1), the hash of
--          the row before it, and its own. Whoever changes, removes, adds or swaps rows later
--          breaks the chain; whoever cuts off its end is found by the head, or by a head that was
--          signed and kept elsewhere (rewardctl oplog anchor).
--
-- canonical form of a row: the fields below in this order, each as a netstring ("5:abcde": length
-- in bytes, colon, UTF-8 text), null as "-":
--
--     "1" (version of this form), id, operator, db_user, host, client, action, target,
--     args_version, arguments, observed, before, after, reason, ticket, approval, phase, intent,
--     outcome, command, created_at
--
-- Numbers are written in plain digits; objects as jsonb prints them; created_at in UTC as
-- 2006-01-02T15:04:05.000000Z. Then
--
--     hash      = sha256(prev_hash followed by the canonical form)
--     prev_hash = hash of the row before it; of row 1: sha256("rewardctl operator log " + chain)
--
-- chain is a random name in operator_action_head, so that no two logs begin alike.
-- +goose Up

create table operator_action_head (
    only_row boolean primary key default true,
    chain    text not null default gen_random_uuid()::text,
    last_id  bigint not null default 0,
    hash     bytea not null,
    constraint operator_action_head_one_row check (only_row)
) with (fillfactor = 50);

insert into operator_action_head (chain, hash)
select chain, sha256(convert_to('rewardctl operator log ' || chain, 'UTF8'))
from (select gen_random_uuid()::text as chain) as fresh;

alter table operator_action
    alter column id drop identity,
    add column phase        text not null default 'result',
    add column intent       bigint, -- a result that has an intent row: its id
    add column host         text not null default '', -- the machine, as it calls itself
    add column client       text not null default '', -- its address, as the database sees it
    add column args_version integer not null default 1,
    add column before       jsonb,
    add column after        jsonb,
    add column ticket       text,
    add column approval     bigint,
    add column prev_hash    bytea,
    add column hash         bytea,
    add constraint operator_action_phase_known
        check (phase in ('intent', 'result', 'denied', 'failed'));

create index operator_action_of_intent on operator_action (intent) where intent is not null;
create index operator_action_intents on operator_action (id) where phase = 'intent';
create index operator_action_operator on operator_action (operator, id);
create index operator_action_time on operator_action (created_at, id);

-- +goose StatementBegin
create function operator_action_canonical(p_row operator_action) returns bytea
language plpgsql stable as $$
declare
    v_form  bytea := '';
    v_field text;
    v_bytes bytea;
begin
    foreach v_field in array array[
        '1', p_row.id::text, p_row.operator, p_row.db_user, p_row.host, p_row.client,
        p_row.action, p_row.target, p_row.args_version::text, p_row.arguments::text,
        p_row.observed::text, p_row.before::text, p_row.after::text, p_row.reason, p_row.ticket,
        p_row.approval::text, p_row.phase, p_row.intent::text, p_row.outcome, p_row.command,
        to_char(p_row.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    ] loop
        v_bytes := convert_to(v_field, 'UTF8');
        v_form := v_form || coalesce(
            convert_to(length(v_bytes)::text || ':', 'UTF8') || v_bytes, convert_to('-', 'UTF8'));
    end loop;
    return v_form;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function operator_action_chain() returns trigger language plpgsql security definer as $$
-- purpose: append a row to the chain. What says who and when is the server's, never the writer's.
-- locks:   the head, until the transaction ends: the log is in the order of commits, without gaps.
--          So write the log row last, after all other locks.
declare
    v_head operator_action_head;
begin
    select only_row, chain, last_id, hash into v_head from operator_action_head for update;
    if not found then
        raise exception 'the operator log has lost its head: no deed can be written down'
            using errcode = 'data_exception', hint = 'run: rewardctl oplog verify';
    end if;
    new.id := v_head.last_id + 1;
    new.db_user := session_user;
    new.client := coalesce(host(inet_client_addr()), 'local');
    new.created_at := clock_timestamp();
    new.prev_hash := v_head.hash;
    new.hash := sha256(new.prev_hash || operator_action_canonical(new));
    update operator_action_head set last_id = new.id, hash = new.hash;
    return new;
end
$$;
-- +goose StatementEnd

-- A name in the caller's own schemas must not stand in for a table of the log.
-- +goose StatementBegin
do $$
declare
    v_function text;
begin
    foreach v_function in array array[
        'operator_action_canonical(operator_action)', 'operator_action_chain()'
    ] loop
        execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', v_function,
            current_schema());
    end loop;
end
$$;
-- +goose StatementEnd

revoke all on function operator_action_chain() from public;
revoke insert, update, delete, truncate on operator_action_head from public;

-- Rows that are there already are chained in the order of their ids.
alter table operator_action disable trigger operator_action_rows_stay;
-- +goose StatementBegin
do $$
declare
    v_old  bigint;
    v_last bigint := 0;
    v_hash bytea;
begin
    update operator_action set
        phase = coalesce(arguments ->> 'phase', 'result'),
        intent = (arguments ->> 'intent')::bigint,
        arguments = arguments - 'phase' - 'intent';
    update operator_action a set intent = n.place
    from (select id, row_number() over (order by id) as place from operator_action) n
    where a.intent = n.id;
    select hash into v_hash from operator_action_head;
    for v_old in select id from operator_action order by id loop
        v_last := v_last + 1;
        update operator_action set id = v_last, prev_hash = v_hash where id = v_old;
        update operator_action a set hash = sha256(v_hash || operator_action_canonical(a))
        where id = v_last
        returning hash into v_hash;
    end loop;
    update operator_action_head set last_id = v_last, hash = v_hash;
end
$$;
-- +goose StatementEnd
alter table operator_action enable always trigger operator_action_rows_stay;

alter table operator_action
    alter column prev_hash set not null,
    alter column hash set not null;

create trigger operator_action_chained before insert on operator_action
    for each row execute function operator_action_chain();
alter table operator_action enable always trigger operator_action_chained;

-- +goose StatementBegin
create function operator_action_accounts(p_deed text[]) returns void language plpgsql stable as $$
-- purpose: refuse postings of a session that no row of the log accounts for. A deed with an action
--          becomes a row in the same transaction; one with an intent names a row that the same
--          database user wrote before, and that has no result yet. The owner of the ledger may post
--          without: he could take this function away as well.
-- errors:  42501.
declare
    v_bad text;
begin
    if (select pg_has_role(session_user, c.relowner, 'usage') from pg_class c
        where c.oid = 'reward_ledger'::regclass) then
        return;
    end if;
    select coalesce(d.deed, 'none') into v_bad
    from (select distinct u.deed from unnest(p_deed) as u (deed)) as d
    where case
        when d.deed is null then true
        when d.deed::jsonb ? 'action' then false
        else not exists (
            select from operator_action a
            where a.id = (d.deed::jsonb ->> 'intent')::bigint and a.phase = 'intent'
              and a.action = 'grant apply' and a.db_user = session_user
              and not exists (select from operator_action r where r.intent = a.id))
        end
    limit 1;
    if found then
        raise exception 'no row of the operator log accounts for this posting: %', v_bad
            using errcode = 'insufficient_privilege',
                  hint = 'use rewardctl, which writes down each deed with its postings';
    end if;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function reward_grant_logged(
    -- The arguments of reward_grant, and one more array.
    p_lease    integer[],
    p_lead     boolean[],
    p_resource text[],
    p_token    bigint[],
    p_owner    text[],
    p_player   text[],
    p_event    text[],
    p_kind     text[],
    p_amount   bigint[],
    p_actor    text[],
    p_reason   text[],
    p_resubmit boolean,
    -- Per item the operator's row of the log as JSON, completed here; or {"intent": "12"}, when
    -- row 12 is the operator's intent to make these postings; null: none, which only the owner may.
    p_deed     text[]
) returns table (
    ord         bigint,
    outcome     text,
    ledger_id   bigint,
    have_kind   text,
    have_amount bigint,
    have_token  bigint,
    have_owner  text,
    have_actor  text,
    have_reason text,
    have_at     timestamptz,
    fence_token bigint,
    fence_owner text,
    action_id   bigint -- the row of the log, null when there is none
)
language plpgsql security definer
as $$
-- purpose: grant as reward_grant does, and write down the deeds of operators in the same
--          transaction. Deeds are JSON objects with the columns of operator_action that the writer
--          knows; arguments.deed must be different for every call, so that a batch which is sent
--          again does not write its row twice. It runs as the owner: operators have no other way to
--          the ledger, and so none without a row of the log.
-- locks:   those of reward_grant, then the head of the log.
-- errors:  those of reward_grant; 42501 for a posting of an operator that no row accounts for.
#variable_conflict use_column
declare
    v_row   record;
    v_deed  jsonb;
    v_after bigint;
begin
    -- A batch of a file or plan: one intent accounts for all of it.
    if p_deed[1] is not null and p_deed = array_fill(p_deed[1], array[cardinality(p_deed)])
       and not p_deed[1]::jsonb ? 'action' then
        perform operator_action_accounts(array[p_deed[1]]);
        return query
        select g.ord, g.outcome, g.ledger_id, g.have_kind, g.have_amount, g.have_token,
            g.have_owner, g.have_actor, g.have_reason, g.have_at, g.fence_token, g.fence_owner,
            null::bigint
        from reward_grant(p_lease, p_lead, p_resource, p_token, p_owner, p_player, p_event,
            p_kind, p_amount, p_actor, p_reason, p_resubmit) as g;
        return;
    end if;
    perform operator_action_accounts(p_deed);
    for v_row in
        select g.ord, g.outcome, g.ledger_id, g.have_kind, g.have_amount, g.have_token,
            g.have_owner, g.have_actor, g.have_reason, g.have_at, g.fence_token, g.fence_owner
        from reward_grant(p_lease, p_lead, p_resource, p_token, p_owner, p_player, p_event,
            p_kind, p_amount, p_actor, p_reason, p_resubmit) as g
    loop
        ord := v_row.ord;
        outcome := v_row.outcome;
        ledger_id := v_row.ledger_id;
        have_kind := v_row.have_kind;
        have_amount := v_row.have_amount;
        have_token := v_row.have_token;
        have_owner := v_row.have_owner;
        have_actor := v_row.have_actor;
        have_reason := v_row.have_reason;
        have_at := v_row.have_at;
        fence_token := v_row.fence_token;
        fence_owner := v_row.fence_owner;
        action_id := null;
        v_deed := p_deed[v_row.ord]::jsonb;
        if v_deed ? 'action' and v_row.outcome is not null then
            -- What is posted only now has no row yet, whatever an earlier row is called.
            if p_resubmit and v_row.have_at is distinct from now() then
                select a.id into action_id from operator_action a
                where a.target = v_deed ->> 'target' and a.action = v_deed ->> 'action'
                  and a.arguments ->> 'deed' = v_deed -> 'arguments' ->> 'deed'
                order by a.id desc limit 1;
            end if;
            if action_id is null then
                select b.amount into v_after from reward_balance b
                where b.player_id = p_player[v_row.ord] and b.kind = p_kind[v_row.ord];
                insert into operator_action as a (operator, host, action, target, args_version,
                    arguments, observed, before, after, reason, ticket, approval, phase, outcome,
                    command)
                select d.operator, coalesce(d.host, ''), d.action, d.target,
                    coalesce(d.args_version, 1), d.arguments,
                    coalesce(d.observed, '{}') || jsonb_build_object(
                        'token', p_token[v_row.ord]::text, 'owner', p_owner[v_row.ord])
                        || case when v_row.outcome <> 'applied' and v_row.ledger_id is not null
                            then jsonb_build_object('ledger_id', v_row.ledger_id::text)
                            else '{}' end,
                    case when v_row.outcome = 'applied' then jsonb_build_object(
                        'balance', (v_after - p_amount[v_row.ord])::text) end,
                    case when v_row.outcome = 'applied' then jsonb_build_object(
                        'balance', v_after::text, 'ledger_id', v_row.ledger_id::text) end,
                    d.reason, d.ticket, d.approval,
                    case when v_row.outcome in ('applied', 'replayed') then 'result'
                        else 'denied' end,
                    v_row.outcome, d.command
                from jsonb_to_record(v_deed) as d (operator text, host text, action text,
                    target text, args_version integer, arguments jsonb, observed jsonb,
                    reason text, ticket text, approval bigint, command text)
                returning a.id into action_id;
            end if;
        end if;
        return next;
    end loop;
end
$$;
-- +goose StatementEnd

-- Operators have this function in place of privileges on the tables; nobody else has it.
-- +goose StatementBegin
do $$
declare
    v_function text;
begin
    foreach v_function in array array[
        'operator_action_accounts(text[])',
        'reward_grant_logged(integer[], boolean[], text[], bigint[], text[], text[], text[], '
            'text[], bigint[], text[], text[], boolean, text[])'
    ] loop
        execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', v_function,
            current_schema());
        execute format('revoke all on function %s from public', v_function);
    end loop;
end
$$;
-- +goose StatementEnd

-- +goose Down
drop function reward_grant_logged(integer[], boolean[], text[], bigint[], text[], text[], text[],
    text[], bigint[], text[], text[], boolean, text[]);
drop function operator_action_accounts(text[]);
drop trigger operator_action_chained on operator_action;
drop function operator_action_chain();
drop function operator_action_canonical(operator_action);
drop index operator_action_of_intent, operator_action_intents, operator_action_operator,
    operator_action_time;
alter table operator_action disable trigger operator_action_rows_stay;
update operator_action set arguments = arguments
    || jsonb_strip_nulls(jsonb_build_object('phase', phase, 'intent', intent::text));
alter table operator_action enable always trigger operator_action_rows_stay;
alter table operator_action
    drop constraint operator_action_phase_known,
    drop column phase, drop column intent, drop column host, drop column client,
    drop column args_version, drop column before, drop column after, drop column ticket,
    drop column approval, drop column prev_hash, drop column hash,
    alter column id add generated by default as identity;
select setval(pg_get_serial_sequence('operator_action', 'id'),
    (select coalesce(max(id), 0) + 1 from operator_action), false);
drop table operator_action_head;
