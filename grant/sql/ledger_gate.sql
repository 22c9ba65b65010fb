-- purpose: tell whether the ledger's key can stop a double payment.
-- params:  none
-- result:  one row: does the table exist, does the function exist, may both columns not be null,
--          and the best index on exactly (player_id, reward_event_id), null if there is none
-- locks:   none
select to_regclass('reward_ledger') is not null as has_ledger,
    to_regprocedure('reward_grant(integer[],boolean[],text[],bigint[],text[],text[],text[],text[],'
        || 'bigint[],text[],text[],boolean)') is not null
        and to_regprocedure('reward_timeline_check()') is not null as has_function,
    coalesce((
        select bool_and(a.attnotnull)
        from pg_attribute a
        where a.attrelid = to_regclass('reward_ledger')
          and a.attname in ('player_id', 'reward_event_id')
    ), false) as not_null,
    key.name, key.is_unique, key.is_valid, key.is_ready, key.is_immediate, key.is_whole
from (select 1) as one
left join (
    select c.relname::text as name, i.indisunique as is_unique,
        i.indisvalid and i.indislive as is_valid, i.indisready as is_ready,
        i.indimmediate as is_immediate, i.indpred is null and i.indexprs is null as is_whole
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    where i.indrelid = to_regclass('reward_ledger') and i.indnkeyatts = 2
      and (
          select array_agg(a.attname::text order by a.attname)
          from unnest(i.indkey[0:1]) as k (attnum)
          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      ) = array['player_id', 'reward_event_id']
    order by i.indisunique and i.indisvalid and i.indisready and i.indimmediate
        and i.indpred is null desc, i.indisunique desc, c.relname
    limit 1
) as key on true
