-- purpose: extend leases, each only if its exact value is still there. Never creates a lock.
-- keys:    for each of n items: lock; then, on a single server, the index shards they name
-- args:    n, lease time in ms;
--          then for each item: value, index member, position of its shard (0: none)
-- result:  n texts in order:
--          x                extended
--          g                lost: nothing is there
--          h<left> <value>  lost: another value is there; untouched
--          t<type>          lost: the lock key holds data of another type; untouched
--          e<error>         refused by the server; not extended
local call, pcall = redis.call, redis.pcall
local n, ttl = tonumber(ARGV[1]), ARGV[2]
local names = {}
for i = 1, n do
	names[i] = KEYS[i]
end
local stored = call('MGET', unpack(names))
local out, entries = {}, {}
local score
for i = 1, n do
	local at = 3 * i
	local value = stored[i]
	if value == ARGV[at] then
		local extended = pcall('PEXPIRE', names[i], ttl)
		if type(extended) == 'table' then
			out[i] = 'e' .. extended.err
		else
			out[i] = 'x'
			local shard = ARGV[at + 2]
			if shard ~= '0' then
				if not score then
					local now = call('TIME')
					score = string.format('%.0f', now[1] * 1000000 + now[2])
				end
				local list = entries[shard]
				if list then
					list[#list + 1] = score
					list[#list + 1] = ARGV[at + 1]
				else
					entries[shard] = { score, ARGV[at + 1] }
				end
			end
		end
	elseif value then
		out[i] = 'h' .. call('PTTL', names[i]) .. ' ' .. value
	else
		-- MGET also answers nothing for data of another type.
		local kind = call('TYPE', names[i]).ok
		if kind == 'none' then
			out[i] = 'g'
		else
			out[i] = 't' .. kind
		end
	end
end
-- Heals an entry that was lost with its server. NX keeps the score of one that is there.
for shard, list in pairs(entries) do
	pcall('ZADD', KEYS[n + tonumber(shard)], 'NX', unpack(list))
end
return out
