-- purpose: find claims that wait too long. All are looked at every time: they become late by
--          doing nothing.
-- params:  @after how long a claim may wait
-- result:  evidence rows
-- locks:   none
select 'stuck' as word, '' as key, l.player_id as player, l.reward_event_id as event,
    true as is_new, 1::bigint as total,
    array['reward_claim ' || l.ctid::text || ' ' || l.tableoid::text] as places,
    null::json as evidence
from reward_claim l
where l.status <> 'applied' and l.updated_at < statement_timestamp() - @after::interval
  and not exists (
      select from reward_ledger p
      where p.player_id = l.player_id and p.reward_event_id = l.reward_event_id)
order by l.updated_at, l.claim_id
