-- purpose: post a reward the naive way, with nothing in the statement that could refuse it. For
--          control runs.
-- params:  $1 player, $2 event, $3 kind, $4 amount, $5 token, $6 owner
-- result:  one row: the id of the posting
-- locks:   none
insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token, lease_owner,
                           actor, reason)
values ($1, $2, $3, $4, $5, $6, 'drill', 'paused-holder')
returning id
