-- purpose: find the run to compare a run with: the newest before it that read one of its checks
--          to the end; a run that read everything is compared with one that did, too.
-- params:  @run the run
-- result:  one row, or none
-- locks:   none
select c.run_id
from audit_check mine
join audit_check c on c.check_name = mine.check_name and c.run_id < mine.run_id
    and (c.since is null or mine.since is not null)
where mine.run_id = @run::bigint
order by c.run_id desc
limit 1
