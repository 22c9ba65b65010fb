-- purpose: a condition: was the row written by a transaction at or after the mark? Numbers of
--          transactions go round after 32 bits; very old rows may count as new, never the reverse.
-- params:  none; the alias and the mark are filled in
-- result:  true or false
-- locks:   none
((({alias}.xmin::text::bigint - {since}) & 4294967295) < 2147483648)
