-- purpose: on Cluster, enter acquisitions in one index shard before their locks are taken, so that
--          a lease is never missing from the list. The score is this server's time in
--          microseconds; entering again moves it to now, which keeps the pruner away.
-- keys:    the index shard
-- args:    the members, each TAG}OWNER
-- result:  one text: the number of members entered
local now = redis.call('TIME')
local score = string.format('%.0f', now[1] * 1000000 + now[2])
local entries = {}
for i = 1, #ARGV do
	entries[2 * i - 1], entries[2 * i] = score, ARGV[i]
end
redis.call('ZADD', KEYS[1], unpack(entries))
return { tostring(#ARGV) }
