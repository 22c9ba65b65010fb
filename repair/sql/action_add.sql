-- purpose: write down a deed of an operator.
-- params:  @operator who; @action, @target what about what; @arguments, @observed objects;
--          @reason why; @outcome what became of it; @command the equivalent command line
-- result:  the id and the time of the row
-- locks:   none
insert into operator_action (operator, action, target, arguments, observed, reason, outcome,
    command)
values (@operator::text, @action::text, @target::text, @arguments::jsonb, @observed::jsonb,
    @reason::text, @outcome::text, @command::text)
returning id, created_at
