-- purpose: tell what a player has, as it is kept. The cost does not depend on the history.
-- params:  @player the player
-- result:  one row per kind, by kind
-- locks:   none
select b.kind, b.amount
from reward_balance b
where b.player_id = @player::text
order by b.kind
