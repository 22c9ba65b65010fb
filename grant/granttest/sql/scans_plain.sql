-- purpose: read tables only, never an index: an index may hide rows that it has lost.
-- params:  none
-- result:  one row: the three settings, for the rest of the transaction
-- locks:   none
select
    set_config('enable_indexscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true),
    set_config('enable_indexonlyscan', 'off', true)
