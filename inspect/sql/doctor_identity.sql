-- purpose: read which database system this is, and which of its histories it is on.
-- params:  none
-- result:  one row
-- locks:   none
select (select system_identifier from pg_control_system())::text as system,
    (select timeline_id from pg_control_checkpoint())::bigint as timeline
