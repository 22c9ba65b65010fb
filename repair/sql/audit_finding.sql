-- purpose: keep findings, each once per run: a part that was cut off is read again.
-- params:  @run the run; @findings an array of objects
-- result:  none
-- locks:   none
insert into audit_finding (run_id, check_name, word, severity, rule, what, relation, player_id,
    reward_event_id, row_count, evidence, proof, remedy, fingerprint)
select @run::bigint, f.check_name, f.word, f.severity, f.rule, f.what, f.relation, f.player_id,
    f.reward_event_id, f.row_count, f.evidence, f.proof, f.remedy, f.fingerprint
from jsonb_to_recordset(@findings::text::jsonb) as f (check_name text, word text, severity text,
    rule text, what text, relation text, player_id text, reward_event_id text, row_count bigint,
    evidence jsonb, proof text, remedy text, fingerprint text)
on conflict (run_id, fingerprint) do nothing
