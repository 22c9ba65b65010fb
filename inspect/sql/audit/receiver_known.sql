-- purpose: tell which of the given keys are posted.
-- params:  @players, @events parallel arrays of text
-- result:  one row per key that is posted: its place in the arrays, counted from 1
-- locks:   none
select distinct u.n
from unnest(@players::text[], @events::text[]) with ordinality as u (player, event, n)
join reward_ledger l on l.player_id = u.player and l.reward_event_id = u.event
