-- purpose: remove dead entries from one index shard. The caller looked at the locks when this
--          server's time was at least `grace` above the cutoff and found each of them absent or
--          under another owner. An entry that was made or renewed since has a higher score and
--          stays, so a lease that is being acquired at this moment is never lost.
-- keys:    the index shard
-- args:    cutoff score, then the members
-- result:  one text: the number of members removed
local cutoff = tonumber(ARGV[1])
local removed = 0
for i = 2, #ARGV do
	local score = redis.call('ZSCORE', KEYS[1], ARGV[i])
	if score and tonumber(score) <= cutoff then
		removed = removed + redis.call('ZREM', KEYS[1], ARGV[i])
	end
end
return { tostring(removed) }
