-- purpose: prove that a balance is wrong: show it beside the sum of the postings.
-- params:  none; player and kind are filled in
-- result:  one row
-- locks:   none
select (
        select b.amount from reward_balance b
        where b.player_id || '' = {player_value} and b.kind || '' = {key_value}
    ) as balance,
    (
        select coalesce(sum(l.amount), 0) from reward_ledger l
        where l.player_id || '' = {player_value} and l.kind || '' = {key_value}
    ) as postings
