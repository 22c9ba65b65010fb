-- purpose: tell which migration was applied last.
-- params:  none
-- result:  one row; 0 when none was applied
-- locks:   none
select coalesce(max(m.version_id), 0)::bigint as version
from rewardctl_migration m
where m.is_applied
