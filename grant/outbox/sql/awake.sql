-- purpose: be awake again: nobody needs to notify.
-- params:  none
-- result:  one row
-- locks:   gives the advisory lock of sleep.sql back
select pg_advisory_unlock(1919250036, 'reward_outbox'::regclass::oid::integer)
