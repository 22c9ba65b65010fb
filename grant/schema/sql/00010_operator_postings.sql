-- purpose: leave operators no way to the ledger but the functions that account for each posting in
--          the operator log. What is granted goes through reward_grant_logged, what is taken back
--          through reward_reverse; both run as the owner, and the role operator has the right to
--          call them in place of privileges on the tables (roles/matrix.sql). Workers post as
--          before.
-- +goose Up

alter function reward_reverse(integer[], boolean[], text[], bigint[], text[], bigint[], text[],
    text[], bigint[], integer[], bigint[], bigint[], text[], text[], text[], boolean, jsonb)
    rename to reward_reverse_posting;

-- +goose StatementBegin
create function reward_reverse(
    -- The arguments of reward_reverse_posting.
    p_lease    integer[],
    p_lead     boolean[],
    p_resource text[],
    p_token    bigint[],
    p_owner    text[],
    p_posting  bigint[],
    p_player   text[],
    p_kind     text[],
    p_posted   bigint[],
    p_part     integer[],
    p_amount   bigint[],
    p_expect   bigint[],
    p_policy   text[],
    p_actor    text[],
    p_reason   text[],
    p_resubmit boolean,
    p_deed     jsonb -- the operator's row of the log; null: none, which only the owner may
) returns table (
    ord            bigint,
    outcome        text,
    ledger_id      bigint,
    taken          bigint,
    parts          integer,
    rest           bigint,
    balance_before bigint,
    balance_after  bigint,
    event          text,
    have_token     bigint,
    have_owner     text,
    have_actor     text,
    have_reason    text,
    have_at        timestamptz,
    fence_token    bigint,
    fence_owner    text
)
language plpgsql security definer
as $$
-- purpose: take postings back as reward_reverse_posting does, for a session that has a row of the
--          log for them.
-- locks:   those of reward_reverse_posting.
-- errors:  those of reward_reverse_posting; 42501 without a row of the log.
begin
    perform operator_action_accounts(array[p_deed::text]);
    return query
    select r.ord, r.outcome, r.ledger_id, r.taken, r.parts, r.rest, r.balance_before,
        r.balance_after, r.event, r.have_token, r.have_owner, r.have_actor, r.have_reason,
        r.have_at, r.fence_token, r.fence_owner
    from reward_reverse_posting(p_lease, p_lead, p_resource, p_token, p_owner, p_posting, p_player,
        p_kind, p_posted, p_part, p_amount, p_expect, p_policy, p_actor, p_reason, p_resubmit,
        p_deed) as r;
end
$$;
-- +goose StatementEnd

-- A name in the caller's own schemas must not stand in for one of these.
-- +goose StatementBegin
do $$
begin
    execute format('alter function reward_reverse(integer[], boolean[], text[], bigint[], text[], '
        'bigint[], text[], text[], bigint[], integer[], bigint[], bigint[], text[], text[], '
        'text[], boolean, jsonb) set search_path = pg_catalog, %I, pg_temp', current_schema());
end
$$;
-- +goose StatementEnd

revoke all on function reward_reverse(integer[], boolean[], text[], bigint[], text[], bigint[],
    text[], text[], bigint[], integer[], bigint[], bigint[], text[], text[], text[], boolean, jsonb)
    from public;

revoke all on function reward_reverse_posting(integer[], boolean[], text[], bigint[], text[],
    bigint[], text[], text[], bigint[], integer[], bigint[], bigint[], text[], text[], text[],
    boolean, jsonb) from public;

-- +goose Down
grant execute on function reward_reverse_posting(integer[], boolean[], text[], bigint[], text[],
    bigint[], text[], text[], bigint[], integer[], bigint[], bigint[], text[], text[], text[],
    boolean, jsonb) to public;
drop function reward_reverse(integer[], boolean[], text[], bigint[], text[], bigint[], text[],
    text[], bigint[], integer[], bigint[], bigint[], text[], text[], text[], boolean, jsonb);
alter function reward_reverse_posting(integer[], boolean[], text[], bigint[], text[], bigint[],
    text[], text[], bigint[], integer[], bigint[], bigint[], text[], text[], text[], boolean, jsonb)
    rename to reward_reverse;
