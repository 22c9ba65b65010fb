-- purpose: read a page of a player's history, however long, by walking an index in order of time.
-- +goose Up

create index reward_ledger_player_time on reward_ledger (player_id, created_at, id);

-- Claims that are due are few: an applied one never enters this index.
create index reward_claim_due on reward_claim (player_id, updated_at, claim_id)
    where status <> 'applied';

-- +goose Down
drop index reward_claim_due;
drop index reward_ledger_player_time;
