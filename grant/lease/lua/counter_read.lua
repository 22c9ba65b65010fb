-- purpose: read token counters, each with the lock of its resource, in one moment. Reads only.
-- keys:    for each of n items two keys of one slot: fence counter, lock
-- args:    none
-- result:  2n texts in order, for each key:
--          v<text>   a text
--          t<type>   data of another type
--          g         nothing is there
local out = {}
for i = 1, #KEYS do
	local value = redis.pcall('GET', KEYS[i])
	if type(value) == 'string' then
		out[i] = 'v' .. value
	elseif value then
		out[i] = 't' .. redis.call('TYPE', KEYS[i]).ok
	else
		out[i] = 'g'
	end
end
return out
