-- purpose: make a role that nobody can log in as.
--          Words in braces are replaced by quoted names and by words of the matrix.
-- params:  none
-- result:  none
-- locks:   none
create role {role} nologin
