-- purpose: let tests migrate their schemas one after the other. The migrations have a lock of
--          their own, which is polled only every few seconds; this one is waited for.
-- params:  none
-- result:  one row, void
-- locks:   an advisory lock of the database, until the session ends
select pg_advisory_lock(hashtext('rewardctl granttest migrate'))
