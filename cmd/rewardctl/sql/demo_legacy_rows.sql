-- purpose: fill the demo's legacy ledger with what such tables really hold: rewards paid twice by
--          two workers milliseconds apart, the same reward again a day later, other amounts under
--          one key, keys in another spelling, and rows without a key
-- params:  $1 rows of clean history, bigint
-- result:  none
-- locks:   the rows it inserts
insert into legacy_reward_log (id, user_id, reward_key, item, qty, worker, created)
select n, 'p-' || 1001 + n % 40,
       'daily:' || to_char(now() - (n / 40) * interval '1 day', 'YYYY-MM-DD'), 'gems', 50,
       'worker-' || 1 + n % 4, now() - (n / 40) * interval '1 day' - n % 40 * interval '7 minutes'
from generate_series(0, $1::bigint - 1) as n
union all
-- the race: a second worker paid the same key a few milliseconds to seconds later
select $1::bigint + n, 'p-' || 1001 + n % 40,
       'daily:' || to_char(now() - (n / 40) * interval '1 day', 'YYYY-MM-DD'), 'gems', 50,
       'worker-' || 1 + (n + 1) % 4,
       now() - (n / 40) * interval '1 day' - n % 40 * interval '7 minutes'
           + case when n % 3 = 0 then interval '4 milliseconds' else interval '5.1 seconds' end
from generate_series(0, $1::bigint - 1) as n
where n % 37 = 5
union all
-- a manual repair that paid again the next day, and one that paid another amount
select 2 * $1::bigint + n, 'p-' || 1001 + n % 40,
       'daily:' || to_char(now() - (n / 40) * interval '1 day', 'YYYY-MM-DD'), 'gems',
       case when n % 2 = 0 then 50 else 500 end, 'support-script',
       now() - (n / 40) * interval '1 day' + interval '1 day'
from generate_series(0, $1::bigint - 1) as n
where n % 211 = 17
union all
-- the same key in another spelling, and no key at all
select 3 * $1::bigint + n, 'P-' || 1001 + n % 40,
       'DAILY:' || to_char(now() - (n / 40) * interval '1 day', 'YYYY-MM-DD') || ' ', 'Gems', 50,
       'worker-legacy', now() - (n / 40) * interval '1 day'
from generate_series(0, $1::bigint - 1) as n
where n % 331 = 29
union all
select 4 * $1::bigint + n, 'p-' || 1001 + n % 40, null, 'gems', 25, null,
       now() - (n / 40) * interval '1 day'
from generate_series(0, $1::bigint - 1) as n
where n % 401 = 31
on conflict (id) do nothing
