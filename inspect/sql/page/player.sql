-- purpose: read one page of a player's timeline, going on from a place in it, back or forth.
-- params:  @player the player; @resource the player's own resource; @from, @to the time range, null
--          for open; @types the types of entries; @kind, @event, @campaign (how events begin) and
--          @outcome, empty for all; @at, @rank, @id the place to go on from, @at null for the
--          end; @limit how many. Words in braces are replaced: see direction.
-- result:  at most @limit entries, from that place on
-- notes:   each part walks an index in the order of time, so that a page costs the same however
--          long the history is. Applied claims have none: those without a posting, which an audit
--          finds too, are looked for when the player has at most 10,000 claims. Attempts to
--          deliver have no such index either: whoever asks for them by their type reads all of
--          the player's; without that they come with their postings.
-- locks:   none
with posting as (
    select 4 as rank, 'posting' as type, l.id, l.created_at as at, l.reward_event_id, l.kind,
        l.amount, 'applied' as outcome, '' as resource, l.fence_token as token,
        l.lease_owner as owner, l.actor, l.reason, l.reverses, null::bigint as accepted_token,
        null::text as accepted_owner, null::text as have_kind, null::bigint as have_amount,
        '' as detail, '' as command
    from reward_ledger l
    where l.player_id = @player::text and 'posting' = any(@types::text[])
      and (@outcome::text in ('', 'applied'))
      and (@kind::text = '' or l.kind = @kind::text)
      and (@event::text = '' or l.reward_event_id = @event::text)
      and (@campaign::text = '' or starts_with(l.reward_event_id, @campaign::text))
      and (@at::timestamptz is null
          or (l.created_at, 4, l.id) {beyond} (@at::timestamptz, @rank::integer, @id::bigint))
      and l.created_at {from} coalesce(@at::timestamptz, {end})
      and l.created_at >= coalesce(@from::timestamptz, '-infinity')
      and l.created_at < coalesce(@to::timestamptz, 'infinity')
    order by l.created_at {order}, l.id {order}
    limit @limit::bigint
), refusal as (
    select 3 as rank, 'refusal' as type, r.id, r.created_at as at, r.reward_event_id, r.kind,
        r.amount, r.outcome, r.resource, r.token, r.owner, r.actor, r.reason,
        null::bigint as reverses, r.fence_token as accepted_token,
        r.fence_owner as accepted_owner, r.have_kind, r.have_amount, '' as detail,
        '' as command
    from grant_refusal r
    where r.player_id = @player::text and 'refusal' = any(@types::text[])
      and (@outcome::text in ('', r.outcome))
      and (@kind::text = '' or r.kind = @kind::text)
      and (@event::text = '' or r.reward_event_id = @event::text)
      and (@campaign::text = '' or starts_with(r.reward_event_id, @campaign::text))
      and (@at::timestamptz is null
          or (r.created_at, 3, r.id) {beyond} (@at::timestamptz, @rank::integer, @id::bigint))
      and r.created_at {from} coalesce(@at::timestamptz, {end})
      and r.created_at >= coalesce(@from::timestamptz, '-infinity')
      and r.created_at < coalesce(@to::timestamptz, 'infinity')
    order by r.created_at {order}, r.id {order}
    limit @limit::bigint
), few as materialized (
    select count(*) <= 10000 as claims
    from (select from reward_claim where player_id = @player::text limit 10001) as part
), due as (
    select 2 as rank, 'claim' as type, c.claim_id as id, c.updated_at as at, c.reward_event_id,
        c.kind, c.amount, c.status as outcome, '' as resource, c.fence_token as token,
        '' as owner, '' as actor, '' as reason, null::bigint as reverses,
        null::bigint as accepted_token, null::text as accepted_owner, null::text as have_kind,
        null::bigint as have_amount, '' as detail, '' as command
    from reward_claim c
    where c.player_id = @player::text and 'claim' = any(@types::text[])
      and (@outcome::text in ('', c.status))
      and c.status <> 'applied'
      and not exists (
          select from reward_ledger l
          where l.player_id = c.player_id and l.reward_event_id = c.reward_event_id)
      and (@kind::text = '' or c.kind = @kind::text)
      and (@event::text = '' or c.reward_event_id = @event::text)
      and (@campaign::text = '' or starts_with(c.reward_event_id, @campaign::text))
      and (@at::timestamptz is null
          or (c.updated_at, 2, c.claim_id) {beyond} (@at::timestamptz, @rank::integer, @id::bigint))
      and c.updated_at {from} coalesce(@at::timestamptz, {end})
      and c.updated_at >= coalesce(@from::timestamptz, '-infinity')
      and c.updated_at < coalesce(@to::timestamptz, 'infinity')
    order by c.updated_at {order}, c.claim_id {order}
    limit @limit::bigint
), lost as (
    select 2 as rank, 'claim' as type, c.claim_id as id, c.updated_at as at, c.reward_event_id,
        c.kind, c.amount, c.status as outcome, '' as resource, c.fence_token as token,
        '' as owner, '' as actor, '' as reason, null::bigint as reverses,
        null::bigint as accepted_token, null::text as accepted_owner, null::text as have_kind,
        null::bigint as have_amount, '' as detail, '' as command
    from reward_claim c
    where c.player_id = @player::text and 'claim' = any(@types::text[])
      and (@outcome::text in ('', c.status))
      and c.status = 'applied' and (select few.claims from few)
      and not exists (
          select from reward_ledger l
          where l.player_id = c.player_id and l.reward_event_id = c.reward_event_id)
      and (@kind::text = '' or c.kind = @kind::text)
      and (@event::text = '' or c.reward_event_id = @event::text)
      and (@campaign::text = '' or starts_with(c.reward_event_id, @campaign::text))
      and (@at::timestamptz is null
          or (c.updated_at, 2, c.claim_id) {beyond} (@at::timestamptz, @rank::integer, @id::bigint))
      and c.updated_at {from} coalesce(@at::timestamptz, {end})
      and c.updated_at >= coalesce(@from::timestamptz, '-infinity')
      and c.updated_at < coalesce(@to::timestamptz, 'infinity')
    order by c.updated_at {order}, c.claim_id {order}
    limit @limit::bigint
), deed as (
    select 1 as rank, 'action' as type, a.id, a.created_at as at,
        coalesce(a.arguments ->> 'event', '') as reward_event_id,
        coalesce(a.arguments ->> 'kind', '') as kind, 0::bigint as amount, a.outcome,
        a.target as resource, 0::bigint as token, '' as owner, a.operator as actor, a.reason,
        null::bigint as reverses, null::bigint as accepted_token, null::text as accepted_owner,
        null::text as have_kind, null::bigint as have_amount, a.action as detail, a.command
    from operator_action a
    where a.target in (@player::text, @resource::text) and 'action' = any(@types::text[])
      and (@outcome::text in ('', a.outcome))
      and (@kind::text = '' or a.arguments ->> 'kind' = @kind::text)
      and (@event::text = '' or a.arguments ->> 'event' = @event::text)
      and (@campaign::text = ''
          or starts_with(coalesce(a.arguments ->> 'event', ''), @campaign::text))
      and (@at::timestamptz is null
          or (a.created_at, 1, a.id) {beyond} (@at::timestamptz, @rank::integer, @id::bigint))
      and a.created_at {from} coalesce(@at::timestamptz, {end})
      and a.created_at >= coalesce(@from::timestamptz, '-infinity')
      and a.created_at < coalesce(@to::timestamptz, 'infinity')
    order by a.created_at {order}, a.id {order}
    limit @limit::bigint
), attempt as (
    select 5 as rank, 'delivery' as type, hashtextextended(a.claim_id::text, a.ledger_id) as id,
        a.started_at as at, l.reward_event_id, l.kind, 0::bigint as amount, a.verdict as outcome,
        '' as resource, 0::bigint as token, '' as owner, a.relay as actor, '' as reason,
        null::bigint as reverses, a.ledger_id as accepted_token, null::text as accepted_owner,
        null::text as have_kind, null::bigint as have_amount,
        format('attempt %s to deliver posting %s', a.attempt, a.ledger_id)
            || case when a.sink <> '' then ', by ' || a.sink else '' end
            || case when a.kept or a.verdict = 'lost' then '' else ', after its claim was over' end
            || coalesce(': ' || nullif(a.detail, ''), '') as detail, '' as command
    from reward_outbox_attempt a
    join reward_ledger l on l.id = a.ledger_id
    where l.player_id = @player::text and 'delivery' = any(@types::text[])
      and (@outcome::text in ('', a.verdict))
      and (@kind::text = '' or l.kind = @kind::text)
      and (@event::text = '' or l.reward_event_id = @event::text)
      and (@campaign::text = '' or starts_with(l.reward_event_id, @campaign::text))
      and (@at::timestamptz is null
          or (a.started_at, 5, hashtextextended(a.claim_id::text, a.ledger_id))
              {beyond} (@at::timestamptz, @rank::integer, @id::bigint))
      and a.started_at >= coalesce(@from::timestamptz, '-infinity')
      and a.started_at < coalesce(@to::timestamptz, 'infinity')
    order by a.started_at {order}, hashtextextended(a.claim_id::text, a.ledger_id) {order}
    limit @limit::bigint
), page as (
    select rank, type, id, at, reward_event_id, kind, amount, outcome, resource, token, owner,
        actor, reason, reverses, accepted_token, accepted_owner, have_kind, have_amount,
        detail, command from posting
    union all
    select rank, type, id, at, reward_event_id, kind, amount, outcome, resource, token, owner,
        actor, reason, reverses, accepted_token, accepted_owner, have_kind, have_amount,
        detail, command from refusal
    union all
    select rank, type, id, at, reward_event_id, kind, amount, outcome, resource, token, owner,
        actor, reason, reverses, accepted_token, accepted_owner, have_kind, have_amount,
        detail, command from due
    union all
    select rank, type, id, at, reward_event_id, kind, amount, outcome, resource, token, owner,
        actor, reason, reverses, accepted_token, accepted_owner, have_kind, have_amount,
        detail, command from lost
    union all
    select rank, type, id, at, reward_event_id, kind, amount, outcome, resource, token, owner,
        actor, reason, reverses, accepted_token, accepted_owner, have_kind, have_amount,
        detail, command from deed
    union all
    select rank, type, id, at, reward_event_id, kind, amount, outcome, resource, token, owner,
        actor, reason, reverses, accepted_token, accepted_owner, have_kind, have_amount,
        detail, command from attempt
    order by at {order}, rank {order}, id {order}
    limit @limit::bigint
)
select page.rank, page.type, page.id, page.at, page.reward_event_id, page.kind, page.amount,
    page.outcome, page.resource, page.token, page.owner, page.actor, page.reason,
    page.reverses, page.accepted_token, page.accepted_owner, page.have_kind,
    page.have_amount, coalesce(undone.reward_event_id, page.detail) as detail,
    page.command, o.state as delivery_state, o.attempts,
    o.next_attempt_at, o.delivered_at, o.last_error
from page
left join reward_outbox o on o.ledger_id = page.id and page.type = 'posting'
left join reward_ledger undone on undone.id = page.reverses
order by page.at {order}, page.rank {order}, page.id {order}
