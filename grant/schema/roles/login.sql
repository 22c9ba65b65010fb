-- purpose: make a role for somebody to log in as.
--          Words in braces are replaced by quoted names and by words of the matrix.
-- params:  none
-- result:  none
-- locks:   none
create role {role} login
