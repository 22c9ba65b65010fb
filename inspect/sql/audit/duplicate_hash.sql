-- purpose: stream a hash of the key of each row of one part. The reader looks for equal ones: on
--          a large table that costs less than grouping on the server, and tells how far it is.
-- params:  none; the part, the table and its columns are filled in
-- result:  one 64-bit hash per row, in binary
-- locks:   none
copy (
    select hashtextextended({event}, hashtextextended({player}, 0))
    from {table} l
    where {in_part} and {keyed} and {changed}
) to stdout with (format binary)
