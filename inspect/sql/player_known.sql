-- purpose: tell whether anything at all names a player.
-- params:  @player the player; @resource the player's own resource
-- result:  one row
-- locks:   none
select exists (select from reward_ledger where player_id = @player::text)
    or exists (select from reward_claim where player_id = @player::text)
    or exists (select from grant_refusal where player_id = @player::text)
    or exists (select from reward_balance where player_id = @player::text)
    or exists (
        select from operator_action where target in (@player::text, @resource::text)
    ) as known
