-- purpose: a condition: does the row's player have a new posting or a new fence?
-- params:  none
-- result:  true or false
-- locks:   none
l.player_id in (
    select l.player_id from reward_ledger l where {new l}
    union all
    select substr(l.resource, 8) from reward_fence l
    where starts_with(l.resource, 'reward:') and {new l}
)
