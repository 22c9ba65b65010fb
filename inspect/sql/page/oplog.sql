-- purpose: one page of the operator log, towards older or newer rows.
-- params:  @from, @to bounds of time, or null; @actor an operator or database user, @action a
--          command or its first word, @target, @outcome an outcome, its first word or a phase:
--          each empty for any; @unfinished only intents without a
--          result, of their own or of a later try; @id the row next to the
--          page, or null; @limit how many. Words in braces are replaced: see direction.
-- result:  the rows, from that place on
-- locks:   none
select a.id, a.operator, a.db_user, a.host, a.client, a.action, a.target, a.args_version,
    a.arguments::text as arguments, a.observed::text as observed, a.before::text as before,
    a.after::text as after, a.reason, a.ticket, a.approval, a.phase, a.intent, a.outcome,
    a.command, a.created_at, a.prev_hash, a.hash
from operator_action a
where (@id::bigint is null or a.id {beyond} @id::bigint)
  and (@from::timestamptz is null or a.created_at >= @from::timestamptz)
  and (@to::timestamptz is null or a.created_at < @to::timestamptz)
  and (@actor::text = '' or a.operator = @actor::text or a.db_user = @actor::text)
  and (@action::text = '' or a.action = @action::text
      or starts_with(a.action, @action::text || ' '))
  and (@target::text = '' or a.target = @target::text)
  and (@outcome::text = '' or a.outcome = @outcome::text or a.phase = @outcome::text
      or starts_with(a.outcome, @outcome::text || ':'))
  and (not @unfinished::boolean or a.phase = 'intent'
      and not exists (select from operator_action r where r.intent = a.id)
      and not exists (
          select from operator_action r
          where r.target = a.target and r.id > a.id and r.action = a.action
            and r.phase = 'result'))
order by a.id {order}
limit @limit::bigint
