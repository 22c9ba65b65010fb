-- purpose: let a role call a function.
--          Words in braces are replaced by quoted names and by words of the matrix.
-- params:  none
-- result:  none
-- locks:   the function's entry in the catalogue
grant {privilege} on function {relation} to {role}
