-- purpose: write the first decision about a finding.
-- params:  @fingerprint, @check_name of the finding; @state acknowledged or open; @operator,
--          @reason
-- result:  one row, or none when somebody decided meanwhile
-- locks:   the row
insert into audit_ack (fingerprint, check_name, state, acknowledger, reason)
values (@fingerprint::text, @check_name::text, @state::text, @operator::text, @reason::text)
on conflict (fingerprint) do nothing
returning version
