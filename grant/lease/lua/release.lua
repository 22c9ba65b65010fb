-- purpose: end leases, each only if its exact value is still there.
-- keys:    for each of n items two keys of one slot: lock, history;
--          then, on a single server, the index shards that the items name
-- args:    n, history entries kept (0: none), word for the history, such as released;
--          then for each item: value, index member (empty: none), position of its shard (0: none)
-- result:  n texts in order:
--          r            released now
--          g            already gone
--          c<value>     changed: another value is there; untouched
--          t<type>      the lock key holds data of another type; untouched
--          e<error>     refused by the server
local call, pcall = redis.call, redis.pcall
local n, keep, word = tonumber(ARGV[1]), ARGV[2], ARGV[3]

local function release(lock, history, value)
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
		return 'c' .. stored
	end
	local gone = pcall('DEL', lock)
	if type(gone) == 'table' then
		return 'e' .. gone.err
	end
	if keep ~= '0' then
		pcall('XADD', history, 'NOMKSTREAM', 'MAXLEN', keep, '*', 'event', word, 'value', value)
	end
	return 'r'
end

local out = {}
local at = 4
for i = 1, n do
	out[i] = release(KEYS[2 * i - 1], KEYS[2 * i], ARGV[at])
	local shard = tonumber(ARGV[at + 2])
	-- The member names this one acquisition, so nobody else's entry can be meant.
	if shard > 0 and string.sub(out[i], 1, 1) ~= 'e' then
		pcall('ZREM', KEYS[2 * n + shard], ARGV[at + 1])
	end
	at = at + 3
end
return out
