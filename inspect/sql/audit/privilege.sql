-- purpose: find who may change or empty the append-only tables, besides their owner.
-- params:  none
-- result:  one row per table and account: what it may do; PUBLIC is everybody
-- locks:   none
select c.oid::regclass::text as relation, pg_get_userbyid(c.relowner)::text as owner,
    coalesce(r.rolname::text, 'PUBLIC') as grantee,
    string_agg(x.privilege_type, ', ' order by x.privilege_type) as privileges
from unnest(array['reward_ledger', 'operator_action']) as want (relation)
join pg_class c on c.oid = to_regclass(want.relation)
cross join lateral aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) as x
left join pg_roles r on r.oid = x.grantee
where x.privilege_type in ('UPDATE', 'DELETE', 'TRUNCATE') and x.grantee <> c.relowner
group by c.oid, c.relowner, x.grantee, r.rolname
order by 1, 3
