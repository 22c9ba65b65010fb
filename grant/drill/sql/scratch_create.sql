-- purpose: make the schema in which one drill runs.
-- params:  none; the name drill_scratch is replaced by the quoted name of this run's schema
-- result:  none
-- locks:   none that others wait for
create schema drill_scratch
