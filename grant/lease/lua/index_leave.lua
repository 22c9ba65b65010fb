-- purpose: on Cluster, take acquisitions out of one index shard after they ended. A member names
--          one acquisition, so nobody else's entry can be meant.
-- keys:    the index shard
-- args:    the members, each TAG}OWNER
-- result:  one text: the number of members that were there
return { tostring(redis.call('ZREM', KEYS[1], unpack(ARGV))) }
