-- purpose: prove that scripts run and may write here: what a health check must exercise, because a
--          server answers PING long after it lost its scripts or its memory.
-- keys:    a key of our own that nobody else uses
-- args:    time in ms after which the key goes away
-- result:  the server's time: seconds, microseconds
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return redis.call('TIME')
