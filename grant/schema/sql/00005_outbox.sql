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

-- +goose Down
drop trigger reward_outbox_wakes_relay on reward_outbox;
drop trigger reward_outbox_knows_player on reward_outbox;
drop function reward_outbox_wake();
drop function reward_outbox_player();
drop table reward_outbox_attempt;
drop index reward_outbox_fresh, reward_outbox_active, reward_outbox_due, reward_outbox_claimed,
    reward_outbox_stopped, reward_outbox_stopped_state;
alter table reward_outbox drop column player_id, drop column strikes, drop column doubt,
    drop column claimed_by;
