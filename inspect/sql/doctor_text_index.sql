-- purpose: list our indexes that order text by the rules of the operating system, which an upgrade
--          of it may change.
-- params:  none
-- result:  one row per index, unique ones first
-- locks:   none
select distinct c.oid::regclass::text as name, i.indisunique as is_unique
from pg_index i
join pg_class c on c.oid = i.indexrelid
join pg_class t on t.oid = i.indrelid
join pg_namespace n on n.oid = t.relnamespace
cross join lateral unnest(i.indcollation::oid[]) as k (id)
join pg_collation o on o.oid = k.id
where n.nspname = current_schema()
  and t.relname in ('reward_claim', 'reward_ledger', 'reward_fence', 'reward_balance',
      'reward_outbox', 'grant_refusal', 'grant_plan', 'grant_plan_row', 'operator_action')
  and o.collname not in ('C', 'POSIX')
order by 2 desc, 1
