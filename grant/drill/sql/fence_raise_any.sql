-- purpose: a fence as it is often built: it compares the token and forgets the owner, so two owners
--          of equal tokens both pass. For runs that show why that is not enough.
-- params:  $1 resource, $2 token, $3 owner
-- result:  one row affected when the token passed, none when it is refused
-- locks:   the fence row, until the transaction ends
insert into reward_fence as f (resource, last_token, last_owner)
values ($1, $2, $3)
on conflict (resource) do update
    set last_token = excluded.last_token, last_owner = excluded.last_owner
    where f.last_token <= excluded.last_token
