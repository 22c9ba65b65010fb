-- purpose: say how sessions of each role begin. Settings of a role without login are of no effect
--          on its members, so they are given to the logins.
-- params:  none
-- result:  one row per role and setting
-- locks:   none
select role, name, value
from (values
    ('grant', 'statement_timeout', '30s'),
    ('grant', 'lock_timeout', '5s'),
    ('grant', 'idle_in_transaction_session_timeout', '10s'),
    ('relay', 'statement_timeout', '30s'),
    ('relay', 'lock_timeout', '5s'),
    ('relay', 'idle_in_transaction_session_timeout', '10s'),
    -- Reports and filters read whole tables; audits lift the bound of a statement themselves.
    ('view', 'statement_timeout', '5min'),
    ('view', 'lock_timeout', '5s'),
    ('view', 'idle_in_transaction_session_timeout', '10min'),
    ('operator', 'statement_timeout', '5min'),
    ('operator', 'lock_timeout', '10s'),
    ('operator', 'idle_in_transaction_session_timeout', '10min')
) as own (role, name, value)
union all
select r.role, s.name, s.value
from unnest(array['grant', 'relay', 'view', 'operator']) as r (role)
cross join (values
    ('synchronous_commit', 'on'),
    ('default_transaction_isolation', 'read committed'),
    ('client_connection_check_interval', '1s')
) as s (name, value)
order by 1, 2
