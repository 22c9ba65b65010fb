-- purpose: a condition: does the row's player, in any spelling, have a new row in the same table?
-- params:  none; the table and its columns are filled in
-- result:  true or false
-- locks:   none
{player_fold} in (select {player_fold} from {table} l where {new l})
