-- purpose: tell to which of some database roles this session belongs. A superuser counts as a
--          member of everything, so for one only the very name matches.
-- params:  @roles names
-- result:  one row per role that matches
-- locks:   none
select asked.role
from unnest(@roles::text[]) as asked (role)
join pg_roles r on r.rolname = asked.role
join pg_roles me on me.rolname = session_user
where r.oid = me.oid or (not me.rolsuper and pg_has_role(me.oid, r.oid, 'member'))
