-- purpose: say which role may do what: all that is not listed here is refused. Every table of the
--          schema has to have a line, if only for the role that looks.
-- params:  none
-- result:  one row per role and privilege: the object, what may be done, and to which columns only
--          (null: all of them); privilege 'execute' is on a function; privilege 'member' makes
--          the role a member of the role named in its place
-- locks:   none
select role, relation, privilege, columns
from (values
    -- view: whoever looks. It changes nothing.
    ('view', 'reward_claim', 'select', null),
    ('view', 'reward_ledger', 'select', null),
    ('view', 'reward_fence', 'select', null),
    ('view', 'reward_balance', 'select', null),
    ('view', 'reward_outbox', 'select', null),
    ('view', 'reward_outbox_attempt', 'select', null),
    ('view', 'grant_refusal', 'select', null),
    ('view', 'grant_plan', 'select', null),
    ('view', 'grant_plan_row', 'select', null),
    ('view', 'grant_plan_chunk', 'select', null),
    ('view', 'grant_approval', 'select', null),
    ('view', 'operator_action', 'select', null),
    ('view', 'operator_action_head', 'select', null),
    ('view', 'audit_run', 'select', null),
    ('view', 'audit_part', 'select', null),
    ('view', 'audit_check', 'select', null),
    ('view', 'audit_finding', 'select', null),
    ('view', 'audit_ack', 'select', null),
    ('view', 'reward_timeline', 'select', null),
    ('view', 'rewardctl_migration', 'select', null),

    -- grant: a worker that pays through reward_grant. A posting that takes another back (reverses)
    -- is out of its reach, and so are log and plans. ON CONFLICT with a target needs SELECT.
    ('grant', 'reward_fence', 'select', null),
    ('grant', 'reward_fence', 'insert', null),
    ('grant', 'reward_fence', 'update', 'last_token, last_owner, updated_at'),
    ('grant', 'reward_timeline', 'select', null),
    ('grant', 'reward_claim', 'select', null),
    ('grant', 'reward_claim', 'insert', 'player_id, reward_event_id, kind, amount, fence_token, '
        'status, updated_at'),
    ('grant', 'reward_claim', 'update', 'fence_token, status, updated_at'),
    ('grant', 'reward_ledger', 'select', null),
    ('grant', 'reward_ledger', 'insert', 'id, player_id, reward_event_id, kind, amount, '
        'fence_token, lease_owner, actor, reason, created_at'),
    ('grant', 'reward_ledger_id_seq', 'usage', null),
    ('grant', 'reward_balance', 'select', null),
    ('grant', 'reward_balance', 'insert', 'player_id, kind, amount'),
    ('grant', 'reward_balance', 'update', 'amount, version'),
    ('grant', 'reward_outbox', 'insert', 'ledger_id, player_id'),
    ('grant', 'grant_refusal', 'insert', 'outcome, resource, token, owner, player_id, '
        'reward_event_id, kind, amount, actor, reason, fence_token, fence_owner, have_kind, '
        'have_amount, created_at'),

    -- relay: delivers what is posted, and posts nothing.
    ('relay', 'reward_ledger', 'select', null),
    ('relay', 'reward_outbox', 'select', null),
    ('relay', 'reward_outbox', 'update', 'state, attempts, strikes, doubt, next_attempt_at, '
        'claim_id, claimed_by, claimed_until, delivered_at, last_error'),
    ('relay', 'reward_outbox_attempt', 'select', null),
    ('relay', 'reward_outbox_attempt', 'insert', null),
    ('relay', 'reward_outbox_attempt', 'update', 'sink, verdict, detail, probed, started_at, '
        'ended_at'),

    -- operator: a person. Sees everything, and has what repair writes. To the ledger he comes only
    -- through functions that account for each posting in the log. The log is append-only and
    -- chained by the database; who acts in it is the session.
    ('operator', 'view', 'member', null),
    ('operator', 'reward_grant_logged', 'execute', null),
    ('operator', 'reward_reverse', 'execute', null),
    ('operator', 'reward_fence', 'insert', null),
    ('operator', 'reward_fence', 'update', 'last_token, last_owner, updated_at'),
    ('operator', 'reward_timeline', 'update', 'system_identifier, timeline, accepted_at, '
        'accepted_by'),
    ('operator', 'operator_action', 'insert', 'operator, host, action, target, args_version, '
        'arguments, observed, before, after, reason, ticket, approval, phase, intent, outcome, '
        'command'),
    ('operator', 'reward_outbox', 'update', 'state, strikes, doubt, next_attempt_at, claim_id, '
        'claimed_by, claimed_until, delivered_at, last_error'),
    ('operator', 'grant_plan', 'insert', 'campaign, source_name, requested_by, reason, '
        'approve_within'),
    ('operator', 'grant_plan', 'update', 'content_hash, plan_hash, row_count, state, version, due, '
        'duplicates, invalid, needs_approval, over, preview, started_at, started_by, active_at, '
        'ended_at'),
    ('operator', 'grant_plan_row', 'insert', null),
    ('operator', 'grant_plan_row', 'update', 'outcome, ledger_id, detail'),
    ('operator', 'grant_plan_chunk', 'insert', null),
    ('operator', 'grant_plan_chunk', 'update', 'state, claimed_by, claimed_until, claim_no, tries, '
        'retry_at, held_until, decided, errors'),
    ('operator', 'grant_approval', 'insert', 'plan_id, decision, plan_hash, operator, '
        'requested_by, requested_db_user, break_glass, reason, preview, expires_at'),
    ('operator', 'grant_approval', 'update', 'used_at'),
    ('operator', 'audit_run', 'insert', null),
    ('operator', 'audit_run', 'update', 'state, problem, seen_at, ended_at'),
    ('operator', 'audit_part', 'insert', null),
    ('operator', 'audit_check', 'insert', null),
    ('operator', 'audit_finding', 'insert', null),
    ('operator', 'audit_ack', 'insert', 'fingerprint, check_name, state, acknowledger, reason'),
    ('operator', 'audit_ack', 'update', 'state, version, acknowledger, db_user, reason, changed_at')
) as matrix (role, relation, privilege, columns)
