-- purpose: the usual way to release a bare lock, which the benchmarks measure against
-- keys:    the lock
-- args:    its value
-- result:  1 deleted, 0 another value or nothing is there
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('DEL', KEYS[1])
end
return 0
