-- purpose: take all privileges on tables and their columns back from a role.
--          Words in braces are replaced by quoted names and by words of the matrix.
-- params:  none
-- result:  none
-- locks:   the tables' entries in the catalogue
revoke all on all tables in schema {schema} from {role}
