-- purpose: make the checks of this transaction read the tables themselves: a damaged index must
--          not hide a double payment.
-- params:  none
-- result:  one row
-- locks:   none
select set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true)
