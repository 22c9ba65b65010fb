-- purpose: add up what the reference item server has given to players.
-- params:  none
-- result:  one row: the sum
-- locks:   none
select coalesce(sum(amount), 0)::bigint from itemserver_item
