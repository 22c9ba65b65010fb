-- purpose: tell whether the append-only tables refuse update, delete and truncate, also for a
--          session that replicates.
-- params:  @relations the tables
-- result:  one row per table, in order: for each deed whether a trigger that is enabled ALWAYS
--          and calls reward_append_only stands before it
-- locks:   none
select want.relation,
    coalesce(bool_or(t.tgtype & 1 = 1 and t.tgtype & 16 = 16), false) as on_update,
    coalesce(bool_or(t.tgtype & 1 = 1 and t.tgtype & 8 = 8), false) as on_delete,
    coalesce(bool_or(t.tgtype & 1 = 0 and t.tgtype & 32 = 32), false) as on_truncate
from unnest(@relations::text[]) with ordinality as want (relation, n)
left join pg_trigger t on t.tgrelid = to_regclass(want.relation) and t.tgenabled = 'A'
    and not t.tgisinternal and t.tgtype & 2 = 2 and t.tgqual is null and t.tgattr = ''
    and t.tgfoid = to_regprocedure('reward_append_only()')
group by want.relation, want.n
order by want.n
