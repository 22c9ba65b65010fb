-- purpose: find the newest posting that gave a player the same as a grant would, not long ago and
--          for another event: a second compensation for one complaint looks like that
-- params:  @player, @kind, @amount, @event of the grant
--          @within how far back to look
-- result:  at most one row: the posting's number, event and actor, and how long ago it was. One
--          that was taken back does not count
-- locks:   none
select l.id, l.reward_event_id as event, coalesce(l.actor, '') as actor,
    now() - l.created_at as ago
from reward_ledger l
where l.player_id = @player and l.created_at > now() - @within::interval
    and l.kind = @kind and l.amount = @amount and l.reward_event_id <> @event
    and not exists (select from reward_ledger r where r.reverses = l.id)
order by l.created_at desc, l.id desc
limit 1
