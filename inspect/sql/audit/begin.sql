-- purpose: make this transaction read tables and nothing else: an index that is being checked, or
--          a policy, must not hide rows. Parallel reading stays allowed.
-- params:  none
-- result:  one row: the settings, the mark (all transactions below it are finished and seen), the
--          next transaction, and the server and tables that marks belong to
-- locks:   none
select concat_ws(' ', set_config('enable_seqscan', 'on', true),
        set_config('enable_indexscan', 'off', true),
        set_config('enable_indexonlyscan', 'off', true),
        set_config('enable_bitmapscan', 'off', true), set_config('row_security', 'off', true),
        set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true),
        set_config('statement_timeout', '0', true), set_config('work_mem', '64MB', true)
    ) as settings,
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint as mark,
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next,
    format('%s/%s/%s', (select c.system_identifier from pg_control_system() as c),
        (select d.oid from pg_database d where d.datname = current_database()),
        coalesce(to_regclass('reward_ledger')::oid, 0)) as origin
