-- purpose: take all privileges on functions back from a role.
--          Words in braces are replaced by quoted names and by words of the matrix.
-- params:  none
-- result:  none
-- locks:   the functions' entries in the catalogue
revoke all on all functions in schema {schema} from {role}
