-- purpose: write down that a part of a check was read to its end.
-- params:  @run, @check_name, @unit which; @mark transactions below it were all seen; @rows_read,
--          @findings how many
-- result:  none
-- locks:   the run
with alive as (
    update audit_run set seen_at = statement_timestamp() where run_id = @run::bigint
)
insert into audit_part (run_id, check_name, unit, mark, rows_read, findings)
values (@run::bigint, @check_name::text, @unit::text, @mark::bigint, @rows_read::bigint,
    @findings::bigint)
on conflict (run_id, check_name, unit) do nothing
