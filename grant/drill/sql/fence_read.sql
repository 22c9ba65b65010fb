-- purpose: tell which token was accepted for a resource.
-- params:  $1 resource
-- result:  one row: the token and its owner
-- locks:   none
select last_token, last_owner from reward_fence where resource = $1
