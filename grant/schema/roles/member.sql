-- purpose: make a role a member of another one.
--          Words in braces are replaced by quoted names and by words of the matrix.
-- params:  none
-- result:  none
-- locks:   none
grant {relation} to {role}
