-- purpose: tell which of some roles are members of which others.
-- params:  @roles names of roles
-- result:  one row per membership
-- locks:   none
select u.rolname::text as member, r.rolname::text as role
from pg_auth_members m
join pg_roles r on r.oid = m.roleid
join pg_roles u on u.oid = m.member
where r.rolname = any (@roles::text[]) and u.rolname = any (@roles::text[])
order by 1, 2
