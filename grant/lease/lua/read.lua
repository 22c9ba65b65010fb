-- purpose: read locks with the time they have left, each in one moment. Reads only.
-- keys:    the locks, any number on a single server, one on Cluster
-- result:  for each lock one text:
--          v<left> <value>   a text; left is PTTL in ms, -1 without expiry
--          t<left> <type>    data of another type
--          g                 nothing is there
local out = {}
local stored = redis.call('MGET', unpack(KEYS))
for i = 1, #KEYS do
	local left = redis.call('PTTL', KEYS[i])
	if stored[i] then
		out[i] = 'v' .. left .. ' ' .. stored[i]
	elseif left == -2 then
		out[i] = 'g'
	else
		out[i] = 't' .. left .. ' ' .. redis.call('TYPE', KEYS[i]).ok
	end
end
return out
