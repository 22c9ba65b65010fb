-- purpose: advice for the owner of the tables: make a claim due again that was never paid.
-- params:  none; player and event are filled in
-- result:  one row updated
-- locks:   the row
update reward_claim set status = 'pending'
where player_id = {player_value} and reward_event_id in ({event_values}) and status = 'applied'
