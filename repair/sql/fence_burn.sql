-- purpose: burn a token: raise the fence to exactly it, under a tombstone owner. Never lowers a
--          fence, and leaves a tombstone that is there.
-- params:  @resource, @token what to burn; @tombstone the new owner; @prefix how tombstones begin
-- result:  the fence, or none when it is above the token already or holds a tombstone at it
-- locks:   the fence row, for update
insert into reward_fence as f (resource, last_token, last_owner, updated_at)
values (@resource::text, @token::bigint, @tombstone::text, statement_timestamp())
on conflict (resource) do update
    set last_token = excluded.last_token,
        last_owner = excluded.last_owner,
        updated_at = excluded.updated_at
    where f.last_token < excluded.last_token
       or (f.last_token = excluded.last_token
           and not starts_with(f.last_owner, @prefix::text))
returning f.last_token, f.last_owner
