-- purpose: prove who may do what with a table.
-- params:  none; the table is filled in
-- result:  one row per account and privilege
-- locks:   none
select pg_get_userbyid(c.relowner) as owner, coalesce(r.rolname, 'PUBLIC') as grantee,
    x.privilege_type
from pg_class c
cross join lateral aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) as x
left join pg_roles r on r.oid = x.grantee
where c.oid = to_regclass({name})
order by 2, 3
