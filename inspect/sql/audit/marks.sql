-- purpose: tell, per check, where the next incremental run begins: the mark of the latest run that
--          read it to its end.
-- params:  none
-- result:  one row per check, the latest first: the check, the mark and the origin of the mark
-- locks:   none
select l.check_name, l.mark, l.origin
from (
    select distinct on (c.check_name) c.check_name, c.mark, r.origin, c.run_id
    from audit_check c
    join audit_run r on r.run_id = c.run_id
    order by c.check_name, c.run_id desc
) as l
order by l.run_id desc, l.check_name
