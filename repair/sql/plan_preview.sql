-- purpose: tell what a plan would do if it ran now. Each lookup is a subquery of its own, so that
--          it goes through an index however many rows there are.
-- params:  @plan which; @amount, @player_day the limits per grant and per player within 24 hours,
--          0 for none; @samples how many rows are named
-- result:  one row: the preview as an object
-- locks:   none
with fate as materialized (
    select r.line, r.player_id, r.reward_event_id, r.kind, r.amount,
        coalesce(l.kind, c.kind) as have_kind, coalesce(l.amount, c.amount) as have_amount, l.id,
        case
            when l.id is null and c.status is null then 'fresh'
            when coalesce(l.kind, c.kind) <> r.kind or coalesce(l.amount, c.amount) <> r.amount
                or (l.id is null and c.status = 'applied') then 'mismatch'
            when l.id is not null then 'granted'
            else 'fresh'
        end as word
    from grant_plan_row r
    left join lateral (
        select l.id, l.kind, l.amount from reward_ledger l
        where l.player_id = r.player_id and l.reward_event_id = r.reward_event_id offset 0) l
        on true
    left join lateral (
        select c.kind, c.amount, c.status from reward_claim c
        where c.player_id = r.player_id and c.reward_event_id = r.reward_event_id offset 0) c
        on true
    where r.plan_id = @plan::bigint and r.problem is null and r.duplicate_of is null
), purse as materialized (
    select f.player_id, f.kind, f.plus, b.amount as before, d.given
    from (
        select f.player_id, f.kind,
            coalesce(sum(f.amount) filter (where f.word = 'fresh'), 0) as plus
        from fate f group by f.player_id, f.kind) f
    left join lateral (
        select b.amount from reward_balance b
        where b.player_id = f.player_id and b.kind = f.kind offset 0) b on true
    left join lateral (
        select sum(l.amount) as given from reward_ledger l
        where @player_day::bigint > 0 and l.player_id = f.player_id and l.kind = f.kind
          and l.created_at > statement_timestamp() - interval '24 hours' offset 0) d on true
), player as (
    select f.player_id, count(1) as lines from fate f group by f.player_id
), kind_rows as (
    select f.kind, count(1) as rows, sum(f.amount) as total, max(f.amount) as largest,
        count(1) filter (where @amount::bigint > 0 and f.amount > @amount::bigint) as over_amount,
        (array_agg(f.line order by f.amount desc, f.line))[1] as largest_line
    from fate f group by f.kind
), kind_purses as (
    select p.kind, count(1) as players, coalesce(sum(p.before), 0) as before, sum(p.plus) as plus,
        max(coalesce(p.before, 0) + p.plus) as highest,
        count(1) filter (where coalesce(p.before, 0) + p.plus > 9223372036854775807) as overflows,
        sum(hashtextextended(p.player_id || ' ' || coalesce(p.before, 0)::text, 0)::numeric)
            as digest,
        count(1) filter (where @player_day::bigint > 0 and p.plus > 0
            and p.plus + coalesce(p.given, 0) > @player_day::bigint) as over_day,
        max(p.plus + coalesce(p.given, 0)) as highest_day
    from purse p group by p.kind
), top as (
    select p.player_id, p.kind, p.plus, coalesce(p.before, 0) as before
    from purse p order by p.plus desc, p.player_id, p.kind limit @samples::integer
), odd as (
    select f.line, f.player_id, f.reward_event_id, f.kind, f.amount, f.have_kind, f.have_amount,
        f.id
    from fate f where f.word = 'mismatch' order by f.line limit @samples::integer
)
select jsonb_build_object(
    'at', statement_timestamp(),
    'due', (select count(1) from fate),
    'fresh', (select count(1) from fate f where f.word = 'fresh'),
    'granted', (select count(1) from fate f where f.word = 'granted'),
    'mismatches', (select count(1) from fate f where f.word = 'mismatch'),
    'players', (select count(1) from player),
    'players_twice', (select count(1) from player p where p.lines > 1),
    'kinds', (select coalesce(jsonb_agg(jsonb_build_object('kind', r.kind, 'rows', r.rows,
        'total', least(r.total, 9223372036854775807), 'largest', r.largest,
        'largest_line', r.largest_line, 'over_amount', r.over_amount, 'players', p.players,
        'balance_before', least(p.before, 9223372036854775807),
        'balance_after', least(p.before + p.plus, 9223372036854775807),
        'highest_after', least(p.highest, 9223372036854775807), 'overflows', p.overflows,
        'digest', p.digest::text, 'over_day', p.over_day,
        'highest_day', least(p.highest_day, 9223372036854775807)) order by r.kind), '[]')
        from kind_rows r join kind_purses p on p.kind = r.kind),
    'top', (select coalesce(jsonb_agg(jsonb_build_object('player_id', t.player_id,
        'kind', t.kind, 'plus', least(t.plus, 9223372036854775807), 'before', t.before,
        'after', least(t.before + t.plus, 9223372036854775807))
        order by t.plus desc, t.player_id, t.kind), '[]') from top t),
    'odd', (select coalesce(jsonb_agg(jsonb_build_object('line', o.line, 'player_id', o.player_id,
        'event_id', o.reward_event_id, 'kind', o.kind, 'amount', o.amount,
        'have_kind', o.have_kind, 'have_amount', o.have_amount,
        'ledger_id', coalesce(o.id, 0)) order by o.line), '[]') from odd o)
) as preview
