-- purpose: remove the schema of one drill with everything in it.
-- params:  none; the name drill_scratch is replaced by the quoted name of this run's schema
-- result:  none
-- locks:   exclusive locks on the drill's own tables
drop schema if exists drill_scratch cascade
