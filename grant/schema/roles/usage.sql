-- purpose: let a role use the names in the schema.
--          Words in braces are replaced by quoted names and by words of the matrix.
-- params:  none
-- result:  none
-- locks:   the schema's entry in the catalogue
grant usage on schema {schema} to {role}
