-- purpose: sum a player's postings that are newer than a place in the timeline.
-- params:  @player the player; @at, @rank, @id the place, @at null for the beginning
-- result:  one row per kind that has such postings
-- locks:   none
select l.kind, sum(l.amount)::bigint as amount
from reward_ledger l
where l.player_id = @player::text
  and (@at::timestamptz is null
      or (l.created_at, 4, l.id) > (@at::timestamptz, @rank::integer, @id::bigint))
group by l.kind
