-- purpose: read a finding of an audit that was kept.
-- params:  @finding its number
-- result:  one row, or none; rows are arrays of texts beside the columns
-- locks:   none
select f.finding_id, f.run_id, f.check_name, f.word, f.what, f.relation, f.player_id,
    f.reward_event_id, f.row_count, f.evidence
from audit_finding f
where f.finding_id = @finding::bigint
