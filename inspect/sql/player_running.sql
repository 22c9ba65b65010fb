-- purpose: sum the postings of a stretch of a player's timeline, of which a page shows only some.
-- params:  @player the player; @kind the only kind that counts, empty for all; @ids the postings
--          that are shown; @low_at, @low_rank, @low_id the place below the stretch and @high_at,
--          @high_rank, @high_id the place above it, both outside of it; the times are null for
--          open ends
-- result:  per shown posting the sum of its kind from the newest of the stretch down to it, and the
--          same for the oldest of each kind, which is the sum of the kind; newest first
-- locks:   none
select summed.id, summed.kind, summed.upto
from (
    select l.id, l.kind, l.created_at,
        sum(l.amount) over (
            partition by l.kind order by l.created_at desc, l.id desc
            rows between unbounded preceding and current row
        )::bigint as upto,
        lead(l.id) over (
            partition by l.kind order by l.created_at desc, l.id desc
        ) is null as oldest
    from reward_ledger l
    where l.player_id = @player::text
      and (@kind::text = '' or l.kind = @kind::text)
      and (@low_at::timestamptz is null or (l.created_at, 4, l.id)
          > (@low_at::timestamptz, @low_rank::integer, @low_id::bigint))
      and (@high_at::timestamptz is null or (l.created_at, 4, l.id)
          < (@high_at::timestamptz, @high_rank::integer, @high_id::bigint))
) as summed
where summed.oldest or summed.id = any(@ids::bigint[])
order by summed.created_at desc, summed.id desc
