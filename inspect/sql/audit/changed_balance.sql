-- purpose: a condition: does the row's player have a new posting or a new balance?
-- params:  none
-- result:  true or false
-- locks:   none
l.player_id in (
    select l.player_id from reward_ledger l where {new l}
    union all
    select l.player_id from reward_balance l where {new l}
)
