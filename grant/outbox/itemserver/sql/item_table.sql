-- purpose: make the table of what players have.
-- params:  none
-- result:  none
-- locks:   the new table
create table if not exists itemserver_item (
    player_id text collate "C" not null,
    kind      text collate "C" not null,
    amount    bigint not null,
    primary key (player_id, kind)
)
