-- purpose: write down a deed of an operator. The database adds who is connected from where, the
--          time, the place in the chain and the hashes.
-- params:  @operator who, @host where; @action, @target what about what; @args_version the form
--          of the objects @arguments, @observed, and @before, @after (null when nothing changed);
--          @reason why; @ticket, @approval or null; @phase intent, result, denied or failed;
--          @intent the row that a result completes, or null; @outcome what became of it;
--          @command the equivalent command line
-- result:  the id and the time of the row
-- locks:   the head of the log, until the transaction ends
insert into operator_action (operator, host, action, target, args_version, arguments, observed,
    before, after, reason, ticket, approval, phase, intent, outcome, command)
values (@operator::text, @host::text, @action::text, @target::text, @args_version::integer,
    @arguments::jsonb, @observed::jsonb, @before::jsonb, @after::jsonb, @reason::text,
    @ticket::text, @approval::bigint, @phase::text, @intent::bigint, @outcome::text,
    @command::text)
returning id, created_at
