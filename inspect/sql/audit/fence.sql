-- purpose: find postings under a token lower than that of the posting before, under the token of
--          another owner, or above the fence. Ids are drawn while the fence row is locked, so for
--          one resource their order is that of the commits. Only a player's own resource can be
--          told from a posting.
-- params:  none; the part is filled in
-- result:  evidence rows
-- locks:   none
select v.word, v.id::text as key, v.player_id as player, v.reward_event_id as event,
    v.is_new or (v.word = 'above_fence' and v.fence_new) as is_new,
    0::bigint as total, array_remove(array[v.fence, v.other, v.place], null) as places,
    null::json as evidence
from (
    select s.player_id, s.reward_event_id, s.id, s.place,
        'reward_fence ' || f.ctid::text || ' ' || f.tableoid::text as fence,
        s.is_new or coalesce(s.other_new, false) as is_new, {new f} as fence_new,
        case
            when s.fence_token < s.token_before then 'token_down'
            when s.fence_token = s.token_same and s.lease_owner <> s.owner_same then 'token_owners'
            when s.is_highest and s.fence_token > f.last_token then 'above_fence'
        end as word,
        case
            when s.fence_token < s.token_before then s.place_before
            when s.fence_token = s.token_same and s.lease_owner <> s.owner_same then s.place_same
        end as other
    from (
        select l.player_id, l.reward_event_id, l.id, l.fence_token, l.lease_owner,
            {new l} as is_new, l.place,
            lag(l.fence_token) over by_id as token_before, lag(l.place) over by_id as place_before,
            lag({new l}) over by_id as other_new,
            lag(l.fence_token) over by_token as token_same,
            lag(l.lease_owner) over by_token as owner_same,
            lag(l.place) over by_token as place_same,
            lead(l.id) over by_token is null as is_highest
        from (
            select l.player_id, l.reward_event_id, l.id, l.fence_token, l.lease_owner, l.xmin,
                'reward_ledger ' || l.ctid::text || ' ' || l.tableoid::text as place
            from reward_ledger l
            where {in_part} and l.reverses is null and {changed}
        ) as l
        window by_id as (partition by l.player_id order by l.id),
            by_token as (partition by l.player_id order by l.fence_token, l.id)
    ) as s
    join reward_fence f on f.resource = 'reward:' || s.player_id
) as v
where v.word is not null
order by v.player_id, v.id
