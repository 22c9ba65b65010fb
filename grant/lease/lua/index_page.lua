-- purpose: read one page of an index shard, oldest entries first. Reads only.
-- keys:    the index shard
-- args:    lowest score wanted, entries wanted
-- result:  this server's time in microseconds, the score of the page's last entry (empty when the
--          page is empty), then the members
local now = redis.call('TIME')
local page = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], '+inf', 'LIMIT', '0', ARGV[2])
local last = ''
if #page > 0 then
	last = redis.call('ZSCORE', KEYS[1], page[#page])
end
table.insert(page, 1, last)
table.insert(page, 1, string.format('%.0f', now[1] * 1000000 + now[2]))
return page
