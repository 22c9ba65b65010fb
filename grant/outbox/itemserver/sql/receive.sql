-- purpose: apply a message once. What is there under its key decides; else the token has to be at
--          least the highest that was accepted for the player; then receipt and inventory change
--          together.
-- params:  $1 key, text; $2 player, text; $3 event, text; $4 kind, text; $5 amount, bigint;
--          $6 token, bigint; $7 whether the token is checked, boolean
-- result:  one row: what was there under the key (nulls when nothing was), and whether it was
--          applied now; neither means that the token is too old, or that a twin came at the very
--          same moment
-- locks:   the rows it writes
with have as materialized (
    select r.kind, r.amount from itemserver_receipt r where r.key = $1::text
), fenced as (
    insert into itemserver_fence as f (player_id, token)
    select $2::text, $6::bigint
    where $7::boolean and not exists (select from have)
    on conflict (player_id) do update set token = excluded.token
        where f.token <= excluded.token
    returning 1
), applied as (
    insert into itemserver_receipt (key, player_id, reward_event_id, kind, amount, fence_token)
    select $1::text, $2::text, $3::text, $4::text, $5::bigint, $6::bigint
    where not exists (select from have) and (not $7::boolean or exists (select from fenced))
    on conflict (key) do nothing
    returning player_id, kind, amount
), added as (
    insert into itemserver_item as i (player_id, kind, amount)
    select player_id, kind, amount from applied
    on conflict (player_id, kind) do update set amount = i.amount + excluded.amount
), counted as (
    update itemserver_receipt set copies = copies + 1
    where key = $1::text and exists (select from have)
)
select h.kind, h.amount, exists (select from applied) as applied
from (values (1)) as one (n)
left join have h on true
