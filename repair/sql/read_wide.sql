-- purpose: read much in this transaction: compiling a statement takes longer than running it here.
-- params:  none
-- result:  one row: the setting in force
-- locks:   none
select set_config('jit', 'off', true) as jit
