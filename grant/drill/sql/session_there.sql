-- purpose: tell whether a session of the server still lives: one whose client has died ends only
--          after it has carried out what it had been sent.
-- params:  $1 its process id
-- result:  one row: true when it is there
-- locks:   none
select exists (select from pg_stat_activity where pid = $1)
