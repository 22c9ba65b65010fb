-- purpose: tell the hash over the rows of a plan, and which plans have the same rows.
-- params:  @plan which
-- result:  one row: the hash; an open plan with the same rows and the newest that is done, or null
-- locks:   none
select h.content_hash,
    (select p.plan_id from grant_plan p
     where p.content_hash = h.content_hash
       and p.state in ('ready', 'waiting', 'approved', 'running', 'paused', 'stopped')
     limit 1) as open_plan,
    (select max(p.plan_id) from grant_plan p
     where p.content_hash = h.content_hash and p.state = 'done') as done_plan
from (
    select sha256(string_agg(c.hash, ''::bytea order by c.chunk)) as content_hash
    from grant_plan_chunk c
    where c.plan_id = @plan::bigint) h
