-- purpose: write a room unless a higher token has written it: the fence of what lives in Redis.
-- keys:    1 the room, a hash
-- args:    1 the writer's token, 2 the players
-- result:  the accepted token as text: the writer's own when it wrote, a higher one when not
local accepted = redis.call('HGET', KEYS[1], 'token')
if accepted and tonumber(accepted) > tonumber(ARGV[1]) then
  return accepted
end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'players', ARGV[2])
return ARGV[1]
