-- purpose: what the relay needs of the outbox: who has a row and until when, when it is tried
--          again, and every attempt that was made. The claim looks up each player's oldest row in
--          an index, so a backlog of any length and any number of rows that wait, were given up
--          or belong to one player costs it nothing.
-- +goose Up

alter table reward_outbox
    -- The order per player has to be found without the ledger.
    add column player_id  text collate "C" not null default '',
    -- Failures that count towards giving up; a receiver that is down does not count.
    add column strikes    integer not null default 0,
    -- The last attempt may have arrived: ask the receiver before sending again.
    add column doubt      boolean not null default false,
    add column claimed_by text;

update reward_outbox o set player_id = l.player_id from reward_ledger l where l.id = o.ledger_id;

-- A row is fresh until it is tried, and again when an operator requeues it. Grants write into
-- this index and the two by ledger_id, and into no other.
create index reward_outbox_fresh on reward_outbox (player_id, ledger_id)
    where state = 'pending' and next_attempt_at is null;
-- Rows that a relay has, and rows between two attempts.
create index reward_outbox_active on reward_outbox (player_id, ledger_id)
    where state = 'claimed' or (state = 'pending' and next_attempt_at is not null);
create index reward_outbox_due on reward_outbox (next_attempt_at, ledger_id)
    where state = 'pending' and next_attempt_at is not null;
create index reward_outbox_claimed on reward_outbox (claimed_until)
    where state = 'claimed';
-- Rows that only an operator brings back: per player for the claim, by state for lists.
create index reward_outbox_stopped on reward_outbox (player_id, ledger_id)
    where state in ('dead', 'parked');
create index reward_outbox_stopped_state on reward_outbox (state, ledger_id)
    where state in ('dead', 'parked');

-- A queue's rows change twice and then rest; its indexes stay short only if vacuum keeps up.
alter table reward_outbox set (autovacuum_vacuum_scale_factor = 0.05);

-- One row per attempt, including those of relays that vanished. There is no foreign key: its
-- check would cost each delivery a row lock.
create table reward_outbox_attempt (
    ledger_id  bigint not null,
    claim_id   uuid not null, -- a claim makes one attempt
    attempt    integer not null, -- counted from 1
    relay      text not null, -- who made it: name@host/pid
    sink       text not null,
    verdict    text not null,
    detail     text, -- what the receiver or the network said
    probed     boolean not null default false, -- the receiver was asked before anything was sent
    kept       boolean not null, -- false: the claim had expired and another relay took the row
    started_at timestamptz not null,
    ended_at   timestamptz not null,
    primary key (ledger_id, claim_id),
    constraint reward_outbox_attempt_verdict_known check
        (verdict in ('delivered', 'repeated', 'refused', 'failed', 'not_now', 'unknown', 'lost'))
);

-- +goose StatementBegin
create function reward_outbox_player() returns trigger language plpgsql as $$
begin
    new.player_id := coalesce(
        (select l.player_id from reward_ledger l where l.id = new.ledger_id), '');
    return new;
end
$$;
-- +goose StatementEnd

-- For whoever queues a posting by hand, or as an older program did.
create trigger reward_outbox_knows_player before insert on reward_outbox
    for each row when (new.player_id = '') execute function reward_outbox_player();

-- +goose StatementBegin
create function reward_outbox_wake() returns trigger language plpgsql as $$
begin
    -- Commits that notify queue up behind each other on the whole server. So only the grant that
    -- finds a relay asleep does it: a sleeping relay holds this lock, a working one does not. The
    -- share taken here lasts until the commit, so a relay cannot fall asleep in between.
    if not pg_try_advisory_xact_lock_shared(1919250036, tg_relid::integer) then
        perform pg_notify('rewardctl_outbox', tg_relid::text);
    end if;
    return null;
end
$$;
-- +goose StatementEnd

create trigger reward_outbox_wakes_relay after insert on reward_outbox
    for each statement execute function reward_outbox_wake();

-- +goose StatementBegin
create function reward_outbox_claim(
    p_relay   text,     -- who claims: name@host/pid
    p_for     interval, -- how long the claim lasts
    p_rows    bigint,   -- how many rows at most
    p_retries bigint,   -- how many of them may be retries
    p_look    bigint,   -- how many players to look at
    p_after   text,     -- the player after whom to begin; empty: the first
    p_pass    boolean   -- true: rows that were given up let the player's later rows pass
) returns table (
    place             text,    -- the player at whom the look ended; null when it did not move
    ended             boolean, -- all players from the place on were looked at
    due_in_ms         bigint,  -- until the next retry or expiry is due; null when there is none
    ledger_id         bigint,  -- the claimed row, and from here its posting; null when none
    claim_id          text,
    attempts          integer, -- made before this one
    strikes           integer,
    doubt             boolean, -- an earlier attempt may have arrived
    player_id         text,
    reward_event_id   text,
    kind              text,
    amount            bigint,
    fence_token       bigint,
    created_at        timestamptz,
    reverses          bigint,
    reverses_event_id text
)
language plpgsql
-- The plan is made once and must be the one for a long backlog, even when it is made on an empty
-- table: a lookup in an index for every step.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
-- The estimates of that plan look dear enough to be compiled, which takes longer than it runs.
set jit = off
as $$
-- purpose: claim rows to send: the oldest undelivered row of each player, of as many players as
--          asked for. Rows whose claim expired come first, then retries that are due, then fresh
--          rows, player by player from a place on. The rows behind a player's first, rows that
--          wait for a retry and rows that were given up cost nothing.
-- result:  one row per claimed row, at least one
-- locks:   the rows it claims; locked ones are skipped
#variable_conflict use_column
begin
return query
with recursive moment as materialized (
    select clock_timestamp() as at, gen_random_uuid() as claim
), late as materialized (
    select o.ledger_id
    from reward_outbox o
    where o.state = 'claimed' and o.claimed_until <= (select at from moment)
    order by o.claimed_until
    limit p_rows
    for update skip locked
), retry as materialized (
    select o.ledger_id, o.player_id
    from reward_outbox o
    where o.state = 'pending' and o.next_attempt_at is not null
      and o.next_attempt_at <= (select at from moment)
    order by o.next_attempt_at, o.ledger_id
    limit 2 * p_retries
), due as materialized (
    select r.ledger_id
    from retry r
    where (select a.ledger_id from reward_outbox a
           where a.player_id = r.player_id
             and (a.state = 'claimed' or (a.state = 'pending' and a.next_attempt_at is not null))
             and a.ledger_id <> r.ledger_id
             and (a.state = 'claimed' or a.ledger_id < r.ledger_id)
           order by a.player_id, a.ledger_id limit 1) is null
      and (select f.ledger_id from reward_outbox f
           where f.player_id = r.player_id and f.ledger_id < r.ledger_id
             and f.state = 'pending' and f.next_attempt_at is null
           order by f.player_id, f.ledger_id limit 1) is null
      and (p_pass
           or (select s.ledger_id from reward_outbox s
               where s.player_id = r.player_id and s.ledger_id < r.ledger_id
                 and s.state in ('dead', 'parked')
               order by s.player_id, s.ledger_id limit 1) is null)
    limit least(p_retries, p_rows - (select count(*) from late))
), lane (player_id, ledger_id, looked) as (
    (select o.player_id, o.ledger_id, 1::bigint
     from reward_outbox o
     where o.state = 'pending' and o.next_attempt_at is null and o.player_id > p_after
     order by o.player_id, o.ledger_id
     limit 1)
    union all
    select f.player_id, f.ledger_id, l.looked + 1
    from lane l
    cross join lateral (
        select o.player_id, o.ledger_id
        from reward_outbox o
        where o.state = 'pending' and o.next_attempt_at is null and o.player_id > l.player_id
        order by o.player_id, o.ledger_id
        limit 1) f
    where l.looked < p_look
), fresh as materialized (
    select l.player_id, l.ledger_id
    from lane l
    where (select a.ledger_id from reward_outbox a
           where a.player_id = l.player_id
             and (a.state = 'claimed' or (a.state = 'pending' and a.next_attempt_at is not null))
             and (a.state = 'claimed' or a.ledger_id < l.ledger_id)
           order by a.player_id, a.ledger_id limit 1) is null
      and (p_pass
           or (select s.ledger_id from reward_outbox s
               where s.player_id = l.player_id and s.ledger_id < l.ledger_id
                 and s.state in ('dead', 'parked')
               order by s.player_id, s.ledger_id limit 1) is null)
    limit p_rows - (select count(*) from late) - (select count(*) from due)
), picked as materialized (
    select o.ledger_id, o.state = 'claimed' as taken_over
    from reward_outbox o
    where o.ledger_id = any (array(
              select ledger_id from late
              union all select ledger_id from due
              union all select ledger_id from fresh))
      -- What was seen may have changed while another relay had the row.
      and case o.state
          when 'pending' then o.next_attempt_at is null
                              or o.next_attempt_at <= (select at from moment)
          when 'claimed' then o.claimed_until <= (select at from moment)
          else false end
    for update of o skip locked
), lost as (
    -- The relay that had the row vanished between claiming and marking: it may have sent it.
    insert into reward_outbox_attempt (ledger_id, claim_id, attempt, relay, sink, verdict, detail,
                                       kept, started_at, ended_at)
    select o.ledger_id, o.claim_id, o.attempts + 1, coalesce(o.claimed_by, ''), '', 'lost',
           'the relay vanished after it claimed the row; it may have been sent', false,
           o.claimed_until - p_for, o.claimed_until
    from reward_outbox o
    where o.ledger_id = any (array(select ledger_id from picked where taken_over))
      and o.claim_id is not null
    on conflict (ledger_id, claim_id) do nothing
), claimed as (
    update reward_outbox o
    set state = 'claimed', claim_id = (select claim from moment), claimed_by = p_relay,
        claimed_until = (select at from moment) + p_for,
        attempts = o.attempts + (o.state = 'claimed')::integer,
        strikes = o.strikes + (o.state = 'claimed')::integer,
        doubt = o.doubt or o.state = 'claimed',
        last_error = case when o.state = 'claimed'
            then 'sent again after a relay vanished: may be a duplicate' else o.last_error end
    where o.ledger_id = any (array(select ledger_id from picked))
    returning o.ledger_id, o.claim_id, o.attempts, o.strikes, o.doubt
), scan as (
    select case when (select count(*) from fresh)
                     >= p_rows - (select count(*) from late) - (select count(*) from due)
                then (select max(player_id) from fresh)
                else (select max(player_id) from lane) end as place,
           (select count(*) from fresh)
                < p_rows - (select count(*) from late) - (select count(*) from due)
           and (select count(*) from lane) < p_look as ended,
           least((select min(o.next_attempt_at) from reward_outbox o
                  where o.state = 'pending' and o.next_attempt_at is not null
                    and o.next_attempt_at > (select at from moment)),
                 (select min(o.claimed_until) from reward_outbox o
                  where o.state = 'claimed'
                    and o.claimed_until > (select at from moment))) as due_at
)
select s.place, s.ended,
    ceil(extract(epoch from s.due_at - (select at from moment)) * 1000)::bigint,
    c.ledger_id, c.claim_id::text, c.attempts, c.strikes, c.doubt,
    l.player_id, l.reward_event_id, l.kind, l.amount, l.fence_token, l.created_at,
    l.reverses,
    (select r.reward_event_id from reward_ledger r where r.id = l.reverses)
from scan s
left join (claimed c join reward_ledger l on l.id = c.ledger_id) on true
order by c.ledger_id;
end
$$;
-- +goose StatementEnd

-- +goose Down
drop function reward_outbox_claim(text, interval, bigint, bigint, bigint, text, boolean);
drop trigger reward_outbox_wakes_relay on reward_outbox;
drop trigger reward_outbox_knows_player on reward_outbox;
drop function reward_outbox_wake();
drop function reward_outbox_player();
drop table reward_outbox_attempt;
drop index reward_outbox_fresh, reward_outbox_active, reward_outbox_due, reward_outbox_claimed,
    reward_outbox_stopped, reward_outbox_stopped_state;
alter table reward_outbox drop column player_id, drop column strikes, drop column doubt,
    drop column claimed_by;
