-- purpose: fall asleep: from here on a transaction that queues a row notifies.
-- params:  none
-- result:  one row: false when a transaction that queues rows is about to commit, or another
--          relay sleeps already; look again then
-- locks:   a session-level advisory lock, when it answers true
select pg_try_advisory_lock(1919250036, 'reward_outbox'::regclass::oid::integer)
