-- purpose: drop a lease whose token its owner never learned, because every reply was lost.
--          The owner text is unique per acquisition, so it identifies the lease.
-- keys:    lock, history; then, on a single server, the index shard
-- args:    owner, history entries kept (0: none), index member
-- result:  one text: r dropped, g nothing of this owner is there
local call, pcall = redis.call, redis.pcall
local owner = ARGV[1]
local value = pcall('GET', KEYS[1])
local answer = 'g'
if type(value) == 'string' then
	local colon = string.find(value, ':', 1, true)
	if colon and string.sub(value, colon + 1) == owner then
		call('DEL', KEYS[1])
		answer = 'r'
		if ARGV[2] ~= '0' then
			pcall('XADD', KEYS[2], 'NOMKSTREAM', 'MAXLEN', '~', ARGV[2], '*',
				'abandoned', value)
		end
	end
end
if KEYS[3] then
	pcall('ZREM', KEYS[3], ARGV[3])
end
return { answer }
