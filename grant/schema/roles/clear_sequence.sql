-- purpose: take all privileges on sequences back from a role.
--          Words in braces are replaced by quoted names and by words of the matrix.
-- params:  none
-- result:  none
-- locks:   the sequences' entries in the catalogue
revoke all on all sequences in schema {schema} from {role}
