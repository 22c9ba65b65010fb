-- purpose: tell which session is writing a fence, after a wait for it was given up.
-- params:  @resource the resource
-- result:  the session that last locked the row and still runs, or none
-- locks:   none
select l.pid,
    coalesce(nullif(a.application_name, ''), 'no name') || ', '
        || coalesce(a.state, 'state not visible') as session
from reward_fence f
join pg_locks l on l.locktype = 'transactionid' and l.granted
    and l.transactionid::text = f.xmax::text
left join pg_stat_activity a on a.pid = l.pid
where f.resource = @resource::text
limit 1
