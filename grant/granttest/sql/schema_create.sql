-- purpose: make the schema of one test. The word {schema} is replaced by its quoted name.
-- params:  none
-- result:  none
-- locks:   none that matter
create schema {schema}
