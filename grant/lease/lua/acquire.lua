-- purpose: take leases. Asking again with the same owner gives the same token back, so a caller
--          whose reply was lost may simply ask again. Nothing that is not ours is overwritten.
-- keys:    for each of n items three keys of one slot: lock, fence counter, history;
--          then, on a single server, the index shards that the items name.
--          On Cluster n is 1 and there is no shard: index_enter.lua runs before this script.
-- args:    n, lease time in ms, idle time of the fence counter in ms (0: never expires),
--          history entries kept (0: none), idle time of the history in ms;
--          then for each item: owner, floor, index member, position of its shard (0: none)
-- result:  n texts in order:
--          a<token>           acquired now
--          o<left> <token>    held by this owner already; left is PTTL in ms, -1 without expiry
--          h<left> <value>    held under another value
--          t<type>            the lock key holds data of another type
--          d<counter>         counter damaged: not a whole number, or no token is left above it
--          e<error>           refused by the server; nothing was taken
local call, pcall = redis.call, redis.pcall
local n, ttl, idle = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local keep, keepIdle = ARGV[4], ARGV[5]
local tokenMax = 9007199254740991

local names = {}
for i = 1, n do
	names[2 * i - 1], names[2 * i] = KEYS[3 * i - 2], KEYS[3 * i - 1]
end
local stored = call('MGET', unpack(names))

local now = call('TIME')
local score = string.format('%.0f', now[1] * 1000000 + now[2])

-- counted returns the text as a whole number, or nil when it is not one.
local function counted(text)
	if not text then
		return 0
	end
	if #text > 16 or not string.find(text, '^%d+$') then
		return nil
	end
	return tonumber(text)
end

local function held(lock, value, owner)
	local colon = string.find(value, ':', 1, true)
	local left = call('PTTL', lock)
	if colon and string.sub(value, colon + 1) == owner then
		return 'o' .. left .. ' ' .. string.sub(value, 1, colon - 1)
	end
	return 'h' .. left .. ' ' .. value
end

-- occupied answers for a lock key that exists although MGET showed no text: another item of this
-- call took it, or it holds another type.
local function occupied(lock, owner)
	local value = pcall('GET', lock)
	if type(value) == 'string' then
		return held(lock, value, owner)
	end
	return 't' .. call('TYPE', lock).ok
end

local function refused(reply)
	return type(reply) == 'table' and reply.err
end

local function count(fence, known, token)
	if known then
		if idle == '0' then
			return pcall('SET', fence, token)
		end
		return pcall('SET', fence, token, 'PX', idle)
	end
	-- NX: a counter that MGET cannot read as text has another type and must not be overwritten.
	if idle == '0' then
		return pcall('SET', fence, token, 'NX')
	end
	return pcall('SET', fence, token, 'NX', 'PX', idle)
end

local function take(i, owner, floor, member, shard)
	local lock, fence, history = KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i]
	local value, counter = stored[2 * i - 1], stored[2 * i]
	if value then
		return held(lock, value, owner)
	end
	local highest = counted(counter)
	if not highest then
		return 'd' .. counter
	end
	highest = math.max(highest, tonumber(floor))
	if highest >= tokenMax then
		return 'd' .. string.format('%.0f', highest)
	end
	local token = string.format('%.0f', highest + 1)
	if shard > 0 then
		local entered = pcall('ZADD', KEYS[3 * n + shard], score, member)
		if refused(entered) then
			return 'e' .. entered.err
		end
	end
	local entry = token .. ':' .. owner
	local set = pcall('SET', lock, entry, 'NX', 'PX', ttl)
	if not set or refused(set) then
		if shard > 0 then
			call('ZREM', KEYS[3 * n + shard], member)
		end
		if set then
			return 'e' .. set.err
		end
		return occupied(lock, owner)
	end
	local counting = count(fence, counter, token)
	if not counting or refused(counting) then
		call('DEL', lock)
		if shard > 0 then
			call('ZREM', KEYS[3 * n + shard], member)
		end
		if counting then
			return 'e' .. counting.err
		end
		return 'd(' .. call('TYPE', fence).ok .. ')'
	end
	if keep ~= '0' then
		pcall('XADD', history, 'MAXLEN', keep, '*', 'event', 'acquired', 'value', entry)
		pcall('PEXPIRE', history, keepIdle)
	end
	return 'a' .. token
end

local out = {}
local at = 6
for i = 1, n do
	out[i] = take(i, ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3]))
	at = at + 4
end
return out
