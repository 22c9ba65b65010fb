-- purpose: cut the ledger into ranges of ids, of the same ids in every run, and count what is in
--          each.
-- params:  @width how many ids a range has; @since postings from this time on, null for all
-- result:  one row per range that holds something: its number, its rows
-- locks:   none
select l.id / @width::bigint as slot, count(*) as rows
from reward_ledger l
where @since::timestamptz is null or l.created_at >= @since::timestamptz
group by 1
order by 1
