-- purpose: bound the wait for locks in this transaction, and make its commit durable. Statements
--          over many rows are not compiled: that takes longer than running them.
-- params:  @lock_timeout the bound, in PostgreSQL's spelling, such as 2000ms
-- result:  one row: the settings in force
-- locks:   none
select set_config('lock_timeout', @lock_timeout::text, true) as lock_timeout,
    set_config('jit', 'off', true) as jit,
    case when current_setting('synchronous_commit') = 'off'
        then set_config('synchronous_commit', 'on', true)
        else current_setting('synchronous_commit')
    end as synchronous_commit
