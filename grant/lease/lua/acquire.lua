-- purpose: take leases. Asking again with the same owner gives the same token back, so a caller
--          whose reply was lost may simply ask again. Nothing that is not ours is overwritten.
-- keys:    for each of n items three keys of one slot: lock, fence counter, history;
--          then, on a single server, the index shards that the items name.
--          On Cluster n is 1 and there is no shard: index_enter.lua runs before this script.
-- args:    n, lease time in ms, idle time of the fence counter in ms, history entries kept
--          (0: none), idle time of the history in ms;
--          then for each item: owner, floor, index member, position of its shard (0: none)
-- result:  n texts in order:
--          a<token>           acquired now
--          o<left> <token>    held by this owner already; left is PTTL in ms, -1 without expiry
--          h<left> <value>    held under another value
--          t<type>            the lock key holds data of another type
--          d<counter>         counter damaged: not a whole number, or no token is left above it
--          e<error>           refused by the server; nothing was taken
-- The code is one loop without functions of its own, and groups what can be grouped: creating a
-- function or calling the server costs as much as the work itself.
local call, pcall = redis.call, redis.pcall
local n, ttl, idle = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local keep, keepIdle = ARGV[4], ARGV[5]

local names = {}
for i = 1, n do
	names[2 * i - 1], names[2 * i] = KEYS[3 * i - 2], KEYS[3 * i - 1]
end
local stored = call('MGET', unpack(names))

local out = {}
local entries = {} -- for each shard: score, member, score, member ...
local score
for i = 1, n do
	local at = 4 * i + 2
	local lock, fence, owner = KEYS[3 * i - 2], KEYS[3 * i - 1], ARGV[at]
	local value, counter = stored[2 * i - 1], stored[2 * i]
	local entry, token, answer
	if not value then
		local highest = tonumber(ARGV[at + 1])
		if counter then
			if #counter > 16 or not string.find(counter, '^%d+$') then
				highest = math.huge
			else
				highest = math.max(highest, tonumber(counter))
			end
		end
		if highest >= 9007199254740991 then
			answer = 'd' .. (counter or ARGV[at + 1])
		else
			token = string.format('%.0f', highest + 1)
			entry = token .. ':' .. owner
			local set = pcall('SET', lock, entry, 'NX', 'PX', ttl)
			if not set then
				-- MGET saw no text and yet there is a key: an item before this one took the
				-- lease, or it holds data of another type.
				value = pcall('GET', lock)
				if type(value) == 'table' then
					answer = 't' .. call('TYPE', lock).ok
				end
			elseif set.err then
				answer = 'e' .. set.err
			end
		end
	end
	if value and not answer then
		local colon = string.find(value, ':', 1, true)
		local left = call('PTTL', lock)
		if colon and string.sub(value, colon + 1) == owner then
			answer = 'o' .. left .. ' ' .. string.sub(value, 1, colon - 1)
		else
			answer = 'h' .. left .. ' ' .. value
		end
	end
	if not answer then
		local counted
		if counter then
			counted = pcall('SET', fence, token, 'PX', idle)
		else
			-- NX: a counter of another type reads as absent and must not be overwritten.
			counted = pcall('SET', fence, token, 'PX', idle, 'NX')
		end
		if not counted or counted.err then
			call('DEL', lock)
			if counted then
				answer = 'e' .. counted.err
			else
				answer = 'd(' .. call('TYPE', fence).ok .. ')'
			end
		else
			answer = 'a' .. token
			if keep ~= '0' then
				pcall('XADD', KEYS[3 * i], 'MAXLEN', '~', keep, '*', 'acquired', entry)
				pcall('PEXPIRE', KEYS[3 * i], keepIdle)
			end
			local shard = ARGV[at + 3]
			if shard ~= '0' then
				if not score then
					local now = call('TIME')
					score = string.format('%.0f', now[1] * 1000000 + now[2])
				end
				local list = entries[shard]
				if list then
					list[#list + 1] = score
					list[#list + 1] = ARGV[at + 2]
				else
					entries[shard] = { score, ARGV[at + 2] }
				end
			end
		end
	end
	out[i] = answer
end

for shard, list in pairs(entries) do
	local entered = pcall('ZADD', KEYS[3 * n + tonumber(shard)], unpack(list))
	if type(entered) == 'table' then
		-- Without its index entry nobody would see the lease: give it back.
		for i = 1, n do
			if ARGV[4 * i + 5] == shard and string.sub(out[i], 1, 1) == 'a' then
				call('DEL', KEYS[3 * i - 2])
				out[i] = 'e' .. entered.err
			end
		end
	end
end
return out
