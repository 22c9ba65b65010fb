-- purpose: prove how far the numbers of a sequence are used up.
-- params:  none; the sequence is filled in
-- result:  one row
-- locks:   none
select s.seqrelid::regclass as sequence, s.seqmax as most,
    pg_sequence_last_value(s.seqrelid) as last
from pg_sequence s
where s.seqrelid = to_regclass({name})
