-- purpose: let one process at a time give out privileges under a prefix.
-- params:  @prefix how the roles are named
-- result:  none
-- locks:   an advisory lock, until the transaction ends
select pg_advisory_xact_lock(hashtext('rewardctl roles ' || @prefix::text))
