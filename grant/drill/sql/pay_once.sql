-- purpose: the second line of defence alone: post a reward unless its event is posted already.
-- params:  $1 player, $2 event, $3 kind, $4 amount, $5 token, $6 owner
-- result:  one row: the id of the posting; no row when the event is posted already
-- locks:   the ledger's key
insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token, lease_owner,
                           actor, reason)
values ($1, $2, $3, $4, $5, $6, 'drill', 'paused-holder')
on conflict (player_id, reward_event_id) do nothing
returning id
