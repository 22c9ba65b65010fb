-- purpose: read the time that keys have left, many at a time. Reads only; for a single server,
--          where one call costs far less than as many commands.
-- keys:    any number
-- args:    none
-- result:  for each key PTTL as a number: ms, -1 without expiry, -2 when it is not there
local call, out = redis.call, {}
for i = 1, #KEYS do
	out[i] = call('PTTL', KEYS[i])
end
return out
