-- purpose: give a role a privilege on a table, or on some of its columns.
--          Words in braces are replaced by quoted names and by words of the matrix.
-- params:  none
-- result:  none
-- locks:   the table's entry in the catalogue
grant {privilege} {columns} on table {relation} to {role}
