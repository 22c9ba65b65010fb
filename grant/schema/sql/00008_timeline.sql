-- purpose: notice that the database is not the one that answered the grants before: a replica was
--          promoted, or a backup restored, and grants that were acknowledged may be missing in it.
--          Granting then stops until an operator has looked: rewardctl fence reseed.
-- +goose Up

-- One row: the server and the timeline on which grants are made.
create table reward_timeline (
    only_row          boolean primary key default true,
    system_identifier bigint not null,
    timeline          text collate "C" not null, -- as WAL files name it: 8 hexadecimal digits
    accepted_at       timestamptz not null default now(),
    accepted_by       text not null,
    constraint reward_timeline_one check (only_row)
);

-- +goose StatementBegin
create function reward_timeline_now() returns text language sql stable as $$
    -- The name of the WAL file tells the timeline at once; the control file does only after the
    -- first checkpoint that follows a promotion.
    select left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
$$;
-- +goose StatementEnd

insert into reward_timeline (system_identifier, timeline, accepted_by)
select system_identifier, reward_timeline_now(), session_user from pg_control_system();

-- +goose StatementBegin
create function reward_timeline_check() returns void language plpgsql stable as $$
-- purpose: refuse a posting on a timeline that nobody has accepted. Every function that posts
--          calls it: a check beforehand could pass on the server that failed right after it.
-- locks:   none
-- errors:  RWT01 when the timeline is another one, or unknown
begin
    if reward_timeline_now() is distinct from (select t.timeline from reward_timeline t) then
        raise exception 'the database is on another timeline than the one that was accepted'
            using errcode = 'RWT01', hint = 'run rewardctl doctor, then rewardctl fence reseed';
    end if;
end
$$;
-- +goose StatementEnd

-- +goose Down
drop function reward_timeline_check();
drop function reward_timeline_now();
drop table reward_timeline;
