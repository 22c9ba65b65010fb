-- purpose: read one lock with the time it has left, in one moment. Reads only.
-- keys:    the lock
-- args:    none
-- result:  one text:
--          v<left> <value>   a text; left is PTTL in ms, -1 without expiry
--          t<left> <type>    data of another type
--          g                 nothing is there
local value = redis.pcall('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if type(value) == 'string' then
	return { 'v' .. left .. ' ' .. value }
end
if left == -2 then
	return { 'g' }
end
return { 't' .. left .. ' ' .. redis.call('TYPE', KEYS[1]).ok }
