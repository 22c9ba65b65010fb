-- purpose: tell a player's balance after some postings, summed over the whole ledger up to each,
--          so that it is right whatever a page leaves out.
-- params:  @player the player; @kinds the kinds of the postings; @until the time of the newest of
--          them; @ids the postings
-- result:  one row per posting of @ids, in any order
-- locks:   none
select summed.id, summed.after
from (
    select l.id, sum(l.amount) over (
        partition by l.kind order by l.created_at, l.id
        rows between unbounded preceding and current row
    )::bigint as after
    from reward_ledger l
    where l.player_id = @player::text and l.kind = any(@kinds::text[])
      and l.created_at <= @until::timestamptz
) as summed
where summed.id = any(@ids::bigint[])
