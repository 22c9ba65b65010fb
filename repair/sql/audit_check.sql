-- purpose: write down that a check was read to its end, with the findings of all its parts: some
--          of them may have been read before the run was cut off.
-- params:  @run, @check_name which; @since the mark it began at, null for all; @mark where the next
--          one begins
-- result:  none
-- locks:   none
insert into audit_check (run_id, check_name, since, mark, findings)
select @run::bigint, @check_name::text, @since::bigint, @mark::bigint, coalesce(sum(p.findings), 0)
from audit_part p
where p.run_id = @run::bigint and p.check_name = @check_name::text
on conflict (run_id, check_name) do nothing
