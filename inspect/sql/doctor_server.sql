-- purpose: read the settings and the standing of the server and of this session.
-- params:  none
-- result:  one row
-- locks:   none
select current_setting('server_version') as version,
    pg_is_in_recovery() as in_recovery,
    current_setting('fsync') as fsync,
    current_setting('full_page_writes') as full_page_writes,
    current_setting('synchronous_commit') as synchronous_commit,
    current_setting('default_transaction_isolation') as isolation,
    current_setting('data_checksums') as data_checksums,
    current_setting('statement_timeout') as statement_timeout,
    current_setting('lock_timeout') as lock_timeout,
    current_setting('idle_in_transaction_session_timeout') as idle_timeout,
    clock_timestamp() as server_time,
    session_user::text as session_user,
    current_setting('is_superuser') = 'on' as superuser,
    pg_backend_pid() as pid,
    coalesce(current_schema(), '')::text as schema,
    coalesce((
        select pg_has_role(session_user, c.relowner, 'member')
        from pg_class c
        where c.oid = to_regclass('reward_ledger')
    ), false) as owns_ledger,
    to_regclass('reward_ledger') is not null as has_ledger,
    to_regclass('rewardctl_migration') is not null as has_migrations
