-- purpose: find accounts of operators that can post without a row of the operator log, or that
--          cannot post at all.
-- params:  none
-- result:  one row: how many accounts can write postings as workers do beside rows of the log, and
--          the first of them by name; whether this one may write rows of the log, but not call what
--          posts with them. The owner of the ledger and superusers are left out.
-- locks:   none
with account as (
    select r.oid, r.rolname::text as name
    from pg_roles r
    join pg_class l on l.oid = to_regclass('reward_ledger')
    where (r.rolcanlogin or r.rolname = session_user)
      and not r.rolsuper and not pg_has_role(r.oid, l.relowner, 'usage')
      and has_any_column_privilege(r.oid, to_regclass('operator_action'), 'insert')
)
select count(*) filter (where p.posts) as workers,
    coalesce(min(p.name) filter (where p.posts), '') as first_worker,
    coalesce(bool_or(not p.calls) filter (where p.name = session_user), false) as cannot_post
from (
    select a.name,
        has_any_column_privilege(a.oid, to_regclass('reward_ledger'), 'insert') as posts,
        coalesce(has_function_privilege(a.oid, to_regproc('reward_grant_logged'), 'execute'), false)
            as calls
    from account a
) as p
