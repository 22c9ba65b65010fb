-- purpose: give a role a privilege on a sequence.
--          Words in braces are replaced by quoted names and by words of the matrix.
-- params:  none
-- result:  none
-- locks:   the sequence's entry in the catalogue
grant {privilege} on sequence {relation} to {role}
