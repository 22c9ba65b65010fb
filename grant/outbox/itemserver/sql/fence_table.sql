-- purpose: make the table of the highest token that was accepted for each player.
-- params:  none
-- result:  none
-- locks:   the new table
create table if not exists itemserver_fence (
    player_id text collate "C" primary key,
    token     bigint not null
)
