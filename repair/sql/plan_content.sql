-- purpose: find the open plan with these rows.
-- params:  @content the hash over the rows
-- result:  the plan's number, or no row
-- locks:   none
select p.plan_id from grant_plan p
where p.content_hash = @content::bytea
  and p.state in ('ready', 'waiting', 'approved', 'running', 'paused', 'stopped')
