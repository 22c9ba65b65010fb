-- purpose: replace the decision about a finding that the operator saw.
-- params:  @fingerprint of the finding; @version the one that was seen; @state acknowledged or
--          open; @operator, @reason
-- result:  one row, or none when somebody decided meanwhile
-- locks:   the row
update audit_ack
set state = @state::text, version = version + 1, acknowledger = @operator::text,
    db_user = session_user, reason = @reason::text, changed_at = statement_timestamp()
where fingerprint = @fingerprint::text and version = @version::bigint
returning version
