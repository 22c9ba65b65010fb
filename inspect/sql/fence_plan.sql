-- purpose: make the plan for reading very many fences fit: compiling it costs more than it saves,
--          and what workers use all day lies in memory, so looking up is not dearer than reading on.
-- params:  none
-- result:  the settings, for this transaction only
-- locks:   none
select set_config('jit', 'off', true) as jit,
    set_config('random_page_cost', '1.1', true) as random_page_cost
