-- purpose: write down that a run of audits begins.
-- params:  @checks what it looks at; @options, @command what it was asked for; @origin, @parts,
--          @incremental how it reads; @operator who
-- result:  the number of the run
-- locks:   none
insert into audit_run (checks, options, origin, parts, incremental, requested_by, command)
values (@checks::text[], @options::jsonb, @origin::text, @parts::integer, @incremental::boolean,
    @operator::text, @command::text)
returning run_id
