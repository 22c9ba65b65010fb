-- purpose: the first line of defence alone: accept a token only if none above it was accepted.
-- params:  $1 resource, $2 token, $3 owner
-- result:  one row affected when the token passed, none when it is refused
-- locks:   the fence row, until the transaction ends
insert into reward_fence as f (resource, last_token, last_owner)
values ($1, $2, $3)
on conflict (resource) do update
    set last_token = excluded.last_token, last_owner = excluded.last_owner
    where f.last_token < excluded.last_token
       or (f.last_token = excluded.last_token and f.last_owner = excluded.last_owner)
