-- purpose: end leases, each only if its exact value is still there.
-- keys:    for each of n items two keys of one slot: lock, history;
--          then, on a single server, the index shards that the items name
-- args:    n, history entries kept (0: none), word for the history, such as released;
--          then for each item: value, index member, position of its shard (0: none)
-- result:  n texts in order:
--          r            released now
--          g            already gone
--          c<value>     changed: another value is there; untouched
--          t<type>      the lock key holds data of another type; untouched
--          e<error>     refused by the server; untouched
local call, pcall = redis.call, redis.pcall
local n, keep, word = tonumber(ARGV[1]), ARGV[2], ARGV[3]

local names = {}
for i = 1, n do
	names[i] = KEYS[2 * i - 1]
end
local stored = call('MGET', unpack(names))

local out, ours, members = {}, {}, {}
for i = 1, n do
	local at = 3 * i + 1
	local value = stored[i]
	local shard = ARGV[at + 2]
	if value == ARGV[at] then
		ours[#ours + 1] = names[i]
		out[i] = 'r'
	elseif value then
		out[i] = 'c' .. value
		local colon = string.find(value, ':', 1, true)
		local brace = string.find(ARGV[at + 1], '}', 1, true)
		if colon and brace and string.sub(value, colon) == ':' .. string.sub(ARGV[at + 1], brace + 1) then
			shard = '0' -- only the token was wrong: this very acquisition holds the lock
		end
	else
		-- MGET also answers nothing for data of another type.
		local kind = call('TYPE', names[i]).ok
		if kind == 'none' then
			out[i] = 'g'
		else
			out[i] = 't' .. kind
		end
	end
	-- A member names one acquisition, so nobody else's entry can be meant.
	if shard ~= '0' then
		local list = members[shard]
		if list then
			list[#list + 1] = ARGV[at + 1]
		else
			members[shard] = { ARGV[at + 1] }
		end
	end
end

if #ours > 0 then
	local gone = pcall('DEL', unpack(ours))
	if type(gone) == 'table' then
		return gone
	end
	if keep ~= '0' then
		for i = 1, n do
			if out[i] == 'r' then
				pcall('XADD', KEYS[2 * i], 'NOMKSTREAM', 'MAXLEN', '~', keep, '*', word, stored[i])
			end
		end
	end
end
for shard, list in pairs(members) do
	pcall('ZREM', KEYS[2 * n + tonumber(shard)], unpack(list))
end
return out
