-- purpose: tell how far the numbers of our tables are used up.
-- params:  none
-- result:  one row per sequence above 80 %
-- locks:   none
select s.seqrelid::regclass::text as name, d.refobjid::regclass::text as relation,
    coalesce(v.last_value, 0) as last_value, s.seqmax as most,
    (100 * coalesce(v.last_value, 0)::numeric / s.seqmax)::int as percent
from pg_sequence s
join pg_depend d on d.objid = s.seqrelid and d.classid = 'pg_class'::regclass
    and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i')
join pg_class c on c.oid = s.seqrelid
join pg_namespace n on n.oid = c.relnamespace
left join pg_sequences v on v.schemaname = n.nspname and v.sequencename = c.relname
where n.nspname = current_schema() and s.seqincrement > 0
  and coalesce(v.last_value, 0) > s.seqmax / 100 * 80
order by 1
