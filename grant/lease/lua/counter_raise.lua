-- purpose: raise token counters to at least their fences, and repair those that hold no number.
--          A counter that counts is never lowered, and one that is not as it was seen is left.
-- keys:    n fence counters
-- args:    idle time of the counter in ms;
--          then for each counter: what was seen of it (v<text>, t<type> or g), the fence
-- result:  n texts in order:
--          r            raised now
--          k            kept: it is at the fence or above already
--          c<seen>      changed: it is not as it was seen; untouched
--          e<error>     refused by the server; untouched
local call, pcall = redis.call, redis.pcall
local out = {}
for i = 1, #KEYS do
	local seen, fence = ARGV[2 * i], ARGV[2 * i + 1]
	local value = pcall('GET', KEYS[i])
	local have = 'g'
	if type(value) == 'string' then
		have = 'v' .. value
	elseif value then
		have = 't' .. call('TYPE', KEYS[i]).ok
	end
	local counts = type(value) == 'string' and #value <= 16 and string.find(value, '^%d+$')
		and tonumber(value) < 9007199254740991
	if counts and tonumber(value) >= tonumber(fence) then
		out[i] = 'k'
	elseif have ~= seen then
		out[i] = 'c' .. have
	else
		-- SET replaces data of any type.
		local set = pcall('SET', KEYS[i], fence, 'PX', ARGV[1])
		if set.err then
			out[i] = 'e' .. set.err
		else
			out[i] = 'r'
		end
	end
end
return out
