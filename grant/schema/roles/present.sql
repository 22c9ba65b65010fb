-- purpose: tell which roles there are already, and where this session is.
-- params:  @roles names of roles
-- result:  one row: those that are there, the schema and database of the session, and whether the
--          server can look for clients that are gone
-- locks:   none
select array(
        select r.rolname::text from pg_roles r where r.rolname = any (@roles::text[])
    ) as present,
    current_schema()::text as schema, current_database()::text as database,
    exists (
        select from pg_settings s where s.name = 'client_connection_check_interval'
    ) as checks_clients
