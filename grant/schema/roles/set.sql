-- purpose: say how sessions of a login begin in this database.
--          Words in braces are replaced by quoted names and by words of the matrix.
-- params:  none
-- result:  none
-- locks:   none
alter role {role} in database {database} set {name} = {value}
