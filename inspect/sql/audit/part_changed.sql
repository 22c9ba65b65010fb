-- purpose: a condition: does the row's player have a new row in the same table?
-- params:  none; the table and its columns are filled in
-- result:  true or false
-- locks:   none
{player} in (select {player} from {table} l where {new l})
