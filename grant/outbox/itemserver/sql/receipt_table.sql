-- purpose: make the table of what was received, once per key.
-- params:  none
-- result:  none
-- locks:   the new table
create table if not exists itemserver_receipt (
    key             text collate "C" primary key,
    player_id       text collate "C" not null,
    reward_event_id text collate "C" not null,
    kind            text collate "C" not null,
    amount          bigint not null,
    fence_token     bigint not null,
    copies          bigint not null default 1, -- how often it was sent
    received_at     timestamptz not null default now()
)
