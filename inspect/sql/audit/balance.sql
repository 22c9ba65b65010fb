-- purpose: compare each balance with the sum of the postings of its player and kind.
-- params:  none; the part is filled in
-- result:  evidence rows
-- locks:   none
select case when b.amount < 0 then 'negative' else 'balance' end as word,
    coalesce(b.kind, p.kind) as key, coalesce(b.player_id, p.player_id) as player, '' as event,
    coalesce(b.is_new, false) or coalesce(p.is_new, false) as is_new, 0::bigint as total,
    array[]::text[] as places,
    json_build_array(
        json_build_object('source', 'reward_balance', 'kind', coalesce(b.kind, p.kind),
            'amount', b.amount, 'version', b.version),
        json_build_object('source', 'reward_ledger', 'kind', coalesce(b.kind, p.kind),
            'amount', coalesce(p.amount, 0), 'postings', coalesce(p.postings, 0))
    ) as evidence
from (
    select l.player_id, l.kind, l.amount, l.version, {new l} as is_new
    from reward_balance l
    where {in_part} and {changed}
) as b
full join (
    select l.player_id, l.kind, sum(l.amount) as amount, count(*) as postings,
        bool_or({new l}) as is_new
    from reward_ledger l
    where {in_part} and {changed}
    group by l.player_id, l.kind
) as p on p.player_id = b.player_id and p.kind = b.kind
where coalesce(b.amount, 0) <> coalesce(p.amount, 0) or b.amount < 0
order by 3, 2
