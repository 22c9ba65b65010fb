-- purpose: read the fence of one resource, as a worker does just before it asks for a lease
-- params:  $1 resource text
-- result:  one row: the accepted token, 0 when none
-- locks:   none
select coalesce(max(last_token), 0) from reward_fence where resource = $1
