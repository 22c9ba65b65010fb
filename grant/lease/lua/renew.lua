-- purpose: extend leases, each only if its exact value is still there. Never creates a lock.
-- keys:    for each of n items: lock; then, on a single server, the index shards they name
-- args:    n, lease time in ms;
--          then for each item: value, index member, position of its shard (0: none)
-- result:  n texts in order:
--          x            extended
--          g            lost: nothing is there
--          h<left> <value>  lost: another value is there; untouched
--          t<type>      lost: the lock key holds data of another type; untouched
--          e<error>     refused by the server
local call, pcall = redis.call, redis.pcall
local n, ttl = tonumber(ARGV[1]), ARGV[2]
local now = call('TIME')
local score = string.format('%.0f', now[1] * 1000000 + now[2])

local function renew(lock, value)
	local stored = pcall('GET', lock)
	if not stored then
		return 'g'
	end
	if type(stored) == 'table' then
		local kind = pcall('TYPE', lock)
		if kind.ok and kind.ok ~= 'string' then
			return 't' .. kind.ok
		end
		return 'e' .. stored.err
	end
	if stored ~= value then
		return 'h' .. call('PTTL', lock) .. ' ' .. stored
	end
	local extended = pcall('PEXPIRE', lock, ttl)
	if type(extended) == 'table' then
		return 'e' .. extended.err
	end
	return 'x'
end

local out = {}
local at = 3
for i = 1, n do
	out[i] = renew(KEYS[i], ARGV[at])
	local shard = tonumber(ARGV[at + 2])
	if shard > 0 and out[i] == 'x' then
		-- Heals an entry that was lost with its server. NX keeps the score of one that is there.
		pcall('ZADD', KEYS[n + shard], 'NX', score, ARGV[at + 1])
	end
	at = at + 3
end
return out
