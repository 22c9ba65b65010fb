-- purpose: create the demo's legacy ledger: a table of the studio's own from before the fence,
--          without a unique key, so that it could hold the same reward twice
-- params:  none
-- result:  none
-- locks:   none beyond the new table
create table if not exists legacy_reward_log (
    id          bigint primary key,
    user_id     text not null,
    reward_key  text,
    item        text not null,
    qty         numeric not null,
    worker      text,
    created     timestamptz not null
)
