-- purpose: list outbox rows with their postings. {lane} and {order} are filled in: which rows, in
--          the words of the partial indexes, and in which direction.
-- params:  @after the ledger id after which to begin; @player, @kind, @error empty for any, error
--          is part of the last one; @since, @until when it was posted, null for no bound; @lane
--          the finer lane, empty for any; @pass rows that were given up hold nobody up; @limit;
--          @ids exactly these, empty for any
-- result:  one row per outbox row, by ledger id, with the earlier row of the player that it waits
--          for
-- locks:   none
select o.ledger_id, l.player_id, l.reward_event_id, l.kind, l.amount, l.fence_token,
    l.created_at, o.state, o.attempts, o.strikes, o.doubt, o.next_attempt_at, o.claimed_by,
    o.claimed_until, o.delivered_at, o.last_error, b.ledger_id as behind_id,
    b.state as behind_state
from reward_outbox o
join reward_ledger l on l.id = o.ledger_id
left join lateral (
    select e.ledger_id, e.state
    from (
        (select e.ledger_id, e.state from reward_outbox e
         where e.player_id = o.player_id and e.ledger_id < o.ledger_id
           and e.state in ('dead', 'parked') and not @pass::boolean
         order by e.player_id, e.ledger_id limit 1)
        union all
        (select e.ledger_id, e.state from reward_outbox e
         where e.player_id = o.player_id and e.ledger_id < o.ledger_id
           and (e.state = 'claimed' or (e.state = 'pending' and e.next_attempt_at is not null))
         order by e.player_id, e.ledger_id limit 1)
        union all
        (select e.ledger_id, e.state from reward_outbox e
         where e.player_id = o.player_id and e.ledger_id < o.ledger_id
           and e.state = 'pending' and e.next_attempt_at is null
         order by e.player_id, e.ledger_id limit 1)
    ) as e
    where o.state = 'pending'
    order by e.ledger_id
    limit 1
) as b on true
where {lane} and {after}
  and (cardinality(@ids::bigint[]) = 0 or o.ledger_id = any (@ids::bigint[]))
  and (@player::text = '' or l.player_id = @player::text)
  and (@kind::text = '' or l.kind = @kind::text)
  and (@error::text = '' or position(@error::text in o.last_error) > 0)
  and (@since::timestamptz is null or l.created_at >= @since::timestamptz)
  and (@until::timestamptz is null or l.created_at < @until::timestamptz)
  and case @lane::text
      when 'fresh' then o.next_attempt_at is null and b.ledger_id is null
      when 'retrying' then o.next_attempt_at is not null and b.ledger_id is null
      when 'waiting' then b.ledger_id is not null
      else true end
order by {order}
limit @limit::bigint
