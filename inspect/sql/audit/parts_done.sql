-- purpose: list the parts of a run that were read to their end.
-- params:  @run the run
-- result:  one row per part: the check, the part and its mark
-- locks:   none
select p.check_name, p.unit, p.mark from audit_part p where p.run_id = @run::bigint
