-- purpose: end a role's membership in another one, which an older version gave it.
--          Words in braces are replaced by quoted names and by words of the matrix.
-- params:  none
-- result:  none
-- locks:   none
revoke {relation} from {role}
