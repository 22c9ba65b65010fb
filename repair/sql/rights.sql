-- purpose: tell what this session's role lacks for the deeds of an operator.
-- params:  @deeds, @relations, @privileges, @columns, equally long: what each deed needs; an empty
--          column is the whole relation. To execute is a privilege on a function
-- result:  one row per need that is not met, a table that is not there among them, and one with an
--          empty deed that only names the role; each says whether the tables are missing
-- locks:   none
select '' as deed, '' as needs, current_user::text as role,
    to_regclass('reward_ledger') is null as bare
union all
select n.deed, n.privilege || ' on ' || n.relation ||
        case when n.column_name = '' then '' else ' (' || n.column_name || ')' end as needs,
    current_user::text as role, to_regclass('reward_ledger') is null as bare
from unnest(@deeds::text[], @relations::text[], @privileges::text[], @columns::text[])
    as n (deed, relation, privilege, column_name)
where not coalesce(
    case when n.privilege = 'execute'
            then has_function_privilege(to_regproc(n.relation), n.privilege)
        when n.column_name = '' then has_table_privilege(to_regclass(n.relation), n.privilege)
        else has_column_privilege(to_regclass(n.relation), n.column_name, n.privilege)
    end, false)
order by 1, 2
