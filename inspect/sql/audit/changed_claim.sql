-- purpose: a condition: does the row's player have a new posting or a new state of a claim?
-- params:  none
-- result:  true or false
-- locks:   none
l.player_id in (
    select l.player_id from reward_ledger l where {new l}
    union all
    select l.player_id from reward_claim l where {new l}
)
