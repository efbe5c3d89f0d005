import { newId } from '../src/platform/kernel/ids.js';
import { sha256 } from '../src/platform/kernel/canonical-json.js';

/**
 * One statement that looks the token up and writes what a hand-in of the service writes: the directive, its approval, both
 * receipts in the chain under the lock of its head, the stored answer, the work on it, and for each destination that wants
 * it the event with a delivery and the work on that.
 */
const HAND_IN = /* sql */ `
with caller as (
  select t.workspace_id, t.member_id,
    jsonb_build_object('type', 'member', 'id', m.member_id, 'name', u.display_name, 'via', 'api') as actor
  from tokens t
  join members m on m.member_id = t.member_id
  join users u on u.user_id = m.user_id
  join workspaces w on w.workspace_id = t.workspace_id
  where t.token_hash = $1 and t.revoked_at is null and m.status = 'active'
),
directive as (
  insert into directives (directive_id, workspace_id, text, routed_by, priority, requires_approval, context, status,
    approval_id, history, created_by, requested_by, requester_ids, created_at)
  select $2, workspace_id, $4, 'consigliere', 'medium', true, '{}', 'pending_approval', $3,
    jsonb_build_array(jsonb_build_object('from', null, 'to', 'pending_approval', 'at', $5::bigint, 'receiptId', $6::text)),
    actor, actor, array[member_id], now()
  from caller
),
approval as (
  insert into approvals (approval_id, workspace_id, directive_id, kind, round, status, ready, title, summary, priority,
    risk, reversibility, requested_by, requester_ids, requested_at, expires_at, on_expiry)
  select $3, workspace_id, $2, 'output', 0, 'pending', false, $4, '', 'medium', 'low', 'read_only', actor,
    array[member_id], now(), now() + interval '72 hours', 'reject'
  from caller
),
bodies as (
  select caller.*,
    (told || jsonb_build_object('receiptId', $6::text, 'action', 'directive.created',
      'entity', jsonb_build_object('type', 'directive', 'id', $2::text),
      'summary', 'Bench handed in "' || $4 || '".',
      'details', '{"priority": "medium", "requiresApproval": true, "routedBy": "consigliere"}'::jsonb))::text as created,
    (told || jsonb_build_object('receiptId', $7::text, 'action', 'approval.requested',
      'entity', jsonb_build_object('type', 'approval', 'id', $3::text),
      'summary', '"' || $4 || '" waits for approval.', 'details', '{"round": 0}'::jsonb))::text as requested
  from caller
  cross join lateral jsonb_build_object('workspaceId', workspace_id, 'at', $5::bigint, 'actor', actor,
    'directiveId', $2::text, 'teamId', null, 'capo', null, 'outcome', 'success', 'guardianEpoch', null,
    'requestId', $8::text) told
),
head as (
  update receipt_heads h set seq = h.seq + 2,
    hash = encode(sha256(convert_to(
      encode(sha256(convert_to(h.hash || created, 'UTF8')), 'hex') || requested, 'UTF8')), 'hex')
  from bodies where h.workspace_id = bodies.workspace_id
  returning old.seq, old.hash as before, encode(sha256(convert_to(old.hash || created, 'UTF8')), 'hex') as between,
    new.hash as after
),
receipt as (
  insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id,
    directive_id, body, prev_hash, hash)
  select workspace_id, head.seq + n, receipt_id, to_timestamp($5::float8 / 1000), 'member', member_id, action,
    entity_type, entity_id, $2, body, prev_hash, hash
  from bodies, head, lateral (values
    (1, $6, 'directive.created', 'directive', $2, created, before, between),
    (2, $7, 'approval.requested', 'approval', $3, requested, between, after)
  ) as one (n, receipt_id, action, entity_type, entity_id, body, prev_hash, hash)
),
answer as (
  insert into idempotency_keys (workspace_id, member_id, key, fingerprint, status, content_type, headers, body)
  select workspace_id, member_id, $9, $10, 201, 'application/json; charset=utf-8',
    jsonb_build_object('Location', '/api/pro/directives/' || $2), $11
  from caller
),
work as (
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select 'directive.route', $2, workspace_id, workspace_id, now() from caller
),
wanted as (
  select d.workspace_id, d.destination_id, app.new_id('dlv') as delivery_id
  from caller join webhook_destinations d on d.workspace_id = caller.workspace_id
  where d.deleted_at is null and d.status <> 'gone' and 'directive.created' = any (d.events)
),
event as (
  insert into webhook_events (event_id, workspace_id, event, request_id, body, created_at)
  select $12, workspace_id, 'directive.created', $8,
    jsonb_build_object('event', 'directive.created', 'timestamp', $5::bigint, 'workspaceId', workspace_id, 'payload',
      jsonb_build_object('directiveId', $2::text, 'text', $4::text, 'capo', null, 'priority', 'medium',
        'requiresApproval', true, 'receiptHead', jsonb_build_object('seq', head.seq + 2, 'hash', after)))::text,
    now()
  from caller, head where exists (select from wanted)
),
delivery as (
  insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status, created_at)
  select delivery_id, workspace_id, destination_id, $12, 'directive.created', 'pending', now() from wanted
),
delivery_work as (
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select 'webhook.deliver', delivery_id, workspace_id, destination_id, now() from wanted
)
select workspace_id from caller`;

/** What a hand-in answers. */
export interface BareAnswer {
  directiveId: string;
  approvalId: string;
  status: 'pending_approval';
}

/** The hand-in of `text` under an idempotency key: what to run, and what to answer once it has found the caller. */
export function bareHandIn(token: string, key: string, text: string) {
  const answer: BareAnswer = {
    directiveId: newId('dir'),
    approvalId: newId('apr'),
    status: 'pending_approval',
  };
  const values = [
    sha256(token),
    answer.directiveId,
    answer.approvalId,
    text,
    Date.now(),
    newId('rcp'),
    newId('rcp'),
    newId('req'),
    key,
    sha256(text),
    JSON.stringify(answer),
    newId('evt'),
  ];
  return { query: { name: 'hand-in', text: HAND_IN, values }, answer };
}
