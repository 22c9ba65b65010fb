-- purpose: count the outbox rows that a requeue or a parking would be about.
-- params:  as of outbox_match, without @ledger_id
-- result:  one row
-- locks:   none
select count(*) as rows
from reward_outbox o
join reward_ledger l on l.id = o.ledger_id
where o.state = @state::text
  and (@player::text = '' or o.player_id = @player::text)
  and (@kind::text = '' or l.kind = @kind::text)
  and (@error::text = '' or position(@error::text in o.last_error) > 0)
  and (@since::timestamptz is null
       or coalesce(o.delivered_at, l.created_at) >= @since::timestamptz)
  and (@until::timestamptz is null
       or coalesce(o.delivered_at, l.created_at) < @until::timestamptz)
