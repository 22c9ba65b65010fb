-- purpose: find players by the beginning of their name, in the studio's own list; case does not
--          count. {table}, {id} and {name} are the names from the configuration, quoted. An index
--          on (lower(name) text_pattern_ops) keeps it fast on a long list.
-- params:  @pattern the beginning in lower case, as a pattern of LIKE; @limit how many
-- result:  at most @limit players, by name
-- locks:   none
select p.{id}::text as id, p.{name}::text as name
from {table} as p
where lower(p.{name}::text) like @pattern::text
order by lower(p.{name}::text) collate "C", p.{id}::text collate "C"
limit @limit::bigint
