-- purpose: prove that nothing is posted under a key that the receiver has.
-- params:  none; player and event are filled in
-- result:  one row: how many postings there are
-- locks:   none
select {player_value} as player_id, {event_values} as reward_event_id, (
    select count(*)
    from reward_ledger l
    where l.player_id || '' = {player_value} and l.reward_event_id || '' in ({event_values})
) as postings
