-- purpose: open the grant transaction at the one isolation level at which each statement sees
--          what was committed while the one before it waited, whatever the role's default is.
-- params:  none
-- result:  none
-- locks:   none
begin isolation level read committed read write
