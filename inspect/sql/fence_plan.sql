-- purpose: prepare for reading very many fences: plan without looking at the resources, which takes
--          longer than it helps; compile nothing; keep the resources in memory.
-- params:  none
-- result:  the settings, for this transaction only
-- locks:   none
select set_config('plan_cache_mode', 'force_generic_plan', true) as plan,
    set_config('jit', 'off', true) as jit, set_config('work_mem', '32MB', true) as work_mem
