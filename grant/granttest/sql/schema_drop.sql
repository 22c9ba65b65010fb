-- purpose: remove the schema of one test. The word {schema} is replaced by its quoted name.
-- params:  none
-- result:  none
-- locks:   everything in the schema, exclusively
drop schema if exists {schema} cascade
