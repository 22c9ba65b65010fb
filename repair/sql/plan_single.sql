-- purpose: read what decides whether a single grant is over a limit.
-- params:  @player, @event, @kind the grant
-- result:  one row: whether its id is posted, and what the player was given of the kind within 24
--          hours
-- locks:   none
select exists (select from reward_ledger l
        where l.player_id = @player::text and l.reward_event_id = @event::text) as posted,
    least(coalesce((select sum(l.amount) from reward_ledger l
        where l.player_id = @player::text and l.kind = @kind::text
          and l.created_at > statement_timestamp() - interval '24 hours'), 0),
        4611686018427387903)::bigint as given
