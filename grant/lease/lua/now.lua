-- purpose: tell the time of the server that keeps a key, in the unit of the index scores
-- keys:    the index shard
-- args:    none
-- result:  one text: microseconds
local now = redis.call('TIME')
return { string.format('%.0f', now[1] * 1000000 + now[2]) }
