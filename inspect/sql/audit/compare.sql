-- purpose: compare the findings of two runs by their fingerprints.
-- params:  @older, @newer the runs
-- result:  one row per finding of either: its number, of the newer run where both have it, and
--          what became of it. unread: it cannot be told, because the other run did not read the
--          check to its end, or read only what was new then.
-- locks:   none
select coalesce(n.finding_id, o.finding_id) as finding_id,
    coalesce(n.run_id, o.run_id) as run_id,
    case
        when n.finding_id is not null and o.finding_id is not null then 'still'
        when n.finding_id is not null and (
            read_older.check_name is null
            or read_older.since is not null and read_newer.since is null
        ) then 'unread'
        when n.finding_id is not null then 'new'
        when read_newer.check_name is null or read_newer.since is not null then 'unread'
        else 'gone'
    end as change
from (
    select f.finding_id, f.run_id, f.check_name, f.fingerprint
    from audit_finding f
    where f.run_id = @newer::bigint
) as n
full join (
    select f.finding_id, f.run_id, f.check_name, f.fingerprint
    from audit_finding f
    where f.run_id = @older::bigint
) as o on o.fingerprint = n.fingerprint
left join audit_check read_older
    on read_older.run_id = @older::bigint
    and read_older.check_name = coalesce(n.check_name, o.check_name)
left join audit_check read_newer
    on read_newer.run_id = @newer::bigint
    and read_newer.check_name = coalesce(n.check_name, o.check_name)
order by 1
