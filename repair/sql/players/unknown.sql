-- purpose: tell which ids the studio's own list of players does not have. {table}, {id} and {type}
--          are the names from the configuration, quoted, and the type of the column.
-- params:  @ids player ids
-- result:  one row per id that is not in the list
-- locks:   none
select asked.id
from unnest(@ids::text[]) as asked (id)
where not exists (select from {table} as p where p.{id} = asked.id::{type})
