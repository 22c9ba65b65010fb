-- purpose: read tables themselves for the rest of the transaction, never an index in doubt.
-- params:  none
-- result:  one row: whether it is so
-- locks:   none
select set_config('enable_indexscan', 'off', true) = 'off'
    and set_config('enable_indexonlyscan', 'off', true) = 'off'
    and set_config('enable_bitmapscan', 'off', true) = 'off'
    and set_config('enable_seqscan', 'on', true) = 'on' as heap_only
