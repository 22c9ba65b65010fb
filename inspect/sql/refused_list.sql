-- purpose: list the writes that the fence refused, of any resource.
-- params:  @since, @until when: from, and before; null for no bound; @limit how many
-- result:  the newest of them, newest first
-- locks:   none
select id, outcome, resource, token, owner, player_id, reward_event_id, kind, amount, actor,
    fence_token, fence_owner, created_at
from grant_refusal
where outcome in ('stale_token', 'token_collision')
    and (@since::timestamptz is null or created_at >= @since::timestamptz)
    and (@until::timestamptz is null or created_at < @until::timestamptz)
order by created_at desc, id desc
limit @limit::bigint
