-- purpose: tell how far the read replica is behind.
-- params:  none
-- result:  one row: is it a replica, and the age of the last transaction it replayed in seconds,
--          null when it never replayed one
-- locks:   none
select pg_is_in_recovery() as in_recovery,
    extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::double precision
        as seconds
