import { approvedHash } from '../../../src/features/approvals/approval.js';
import { contentHash } from '../../../src/features/directives/packets/work-packet.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import type { TestApp } from '../../support/test-app.js';

export interface QueuedPacket {
  workPacketId: string;
  directiveId: string;
  actionType: 'document.file' | 'signal.raise' | 'email.send';
}

export interface ReadyApproval extends QueuedPacket {
  approvalId: string;
}

interface NewPacket extends QueuedPacket {
  position: number;
  kind: string;
  target: string;
  params: object;
  hash: string;
}

type Database = Pick<TestApp, 'rows' | 'workspaceId'>;

const KINDS = { 'document.file': 'document', 'signal.raise': 'signal', 'email.send': 'message' } as const;
const TYPES = Object.keys(KINDS) as QueuedPacket['actionType'][];

/** Each mail goes to an address of its own, so that its receiver knows whose it is. */
const PARAMS = {
  'document.file': () => ({ title: 'Memo', body: 'As agreed.' }),
  'signal.raise': () => ({ type: 'agent', severity: 'info', title: 'Done', body: 'As agreed.' }),
  'email.send': (id: string) => ({
    to: [`${id}@acme.example`],
    subject: 'As agreed',
    body: 'As agreed.',
  }),
} as const;

/** Approved work packets that wait for their turn, as the approvals of `directives` directives leave them behind. */
export async function queueWork(
  { rows, workspaceId }: Database,
  {
    directives,
    packetsEach,
    types = TYPES,
  }: { directives: number; packetsEach: number; types?: QueuedPacket['actionType'][] },
): Promise<QueuedPacket[]> {
  const packets = newPackets(directives, packetsEach, types);
  await addDirectives({ rows, workspaceId }, packets, 'sending');
  // No process is told: the sweep finds them.
  await rows(
    `with queued as (${INSERT_PACKETS})
     insert into work_items (kind, id, workspace_id, queue, due_at)
     select 'packet.send', work_packet_id, $1, $1, now() from queued`,
    [workspaceId, JSON.stringify(packets), 'queued'],
  );
  return packets.map(shown);
}

/** Drafts of one mail each that wait for a person, as `count` directives leave them behind. */
export async function readyWork(
  { rows, workspaceId }: Database,
  { count }: { count: number },
): Promise<ReadyApproval[]> {
  const packets = newPackets(count, 1, ['email.send']);
  await addDirectives({ rows, workspaceId }, packets, 'pending_approval');
  await rows(INSERT_PACKETS, [workspaceId, JSON.stringify(packets), 'awaiting_approval']);
  const approvals = packets.map((packet) => {
    const content = {
      workPacketId: packet.workPacketId,
      title: 'As agreed',
      action: { type: packet.actionType, target: packet.target, params: packet.params },
      reversibility: 'irreversible' as const,
      rationale: 'As agreed.',
      contentHash: packet.hash,
    };
    return {
      ...shown(packet),
      approvalId: newId('apr'),
      content: [content],
      hash: approvedHash(null, [content as never]),
    };
  });
  await rows(
    `insert into approvals (approval_id, workspace_id, directive_id, capo, kind, round, status, ready, title, summary,
       priority, risk, reversibility, packets, content_hash, requested_by, requested_at, expires_at, on_expiry)
     select a->>'approvalId', $1, a->>'directiveId', 'capo_ops', 'output', 0, 'pending', true, 'Do as agreed',
       'As agreed', 'medium', 'medium', 'irreversible', a->'content', a->>'hash', '{"type": "system", "id": "system"}',
       now(), now() + interval '3 days', 'reject'
     from jsonb_array_elements($2::jsonb) a`,
    [workspaceId, JSON.stringify(approvals)],
  );
  return approvals.map(({ approvalId, workPacketId, directiveId, actionType }) => ({
    approvalId,
    workPacketId,
    directiveId,
    actionType,
  }));
}

function newPackets(
  directives: number,
  packetsEach: number,
  types: QueuedPacket['actionType'][],
): NewPacket[] {
  return Array.from({ length: directives }, () => newId('dir')).flatMap((directiveId) =>
    Array.from({ length: packetsEach }, (_, at) => {
      const actionType = types[at % types.length]!;
      const workPacketId = newId('pkt');
      const content = {
        workPacketId,
        actionType,
        target: 'somebody',
        params: PARAMS[actionType](workPacketId),
      };
      return { ...content, directiveId, position: at, kind: KINDS[actionType], hash: contentHash(content) };
    }),
  );
}

async function addDirectives(
  { rows, workspaceId }: Database,
  packets: readonly NewPacket[],
  status: string,
): Promise<void> {
  await rows(
    `insert into directives (directive_id, workspace_id, text, capo, routed_by, priority, requires_approval, context,
       status, work_packet_ids, history, created_by, created_at)
     select p->>'directiveId', $1, 'Do as agreed', 'capo_ops', 'operator', 'medium', true, '{}', $3::text,
       jsonb_agg(p->'workPacketId'),
       jsonb_build_array(jsonb_build_object('from', null, 'to', $3::text, 'at', 0, 'receiptId', 'rcp_x')),
       '{"type": "system", "id": "system"}', now()
     from jsonb_array_elements($2::jsonb) p group by p->>'directiveId'`,
    [workspaceId, JSON.stringify(packets), status],
  );
}

const INSERT_PACKETS = `
  insert into work_packets (work_packet_id, workspace_id, directive_id, position, capo, engine, title, kind,
    action_type, target, params, reversibility, status, allowed_hash, allowed_by, leverage_score, multipliers, rationale,
    created_at)
  select p->>'workPacketId', $1, p->>'directiveId', (p->>'position')::int, 'capo_ops', 'ops', 'As agreed',
    p->>'kind', p->>'actionType', p->>'target', p->'params',
    case p->>'actionType' when 'email.send' then 'irreversible' else 'reversible' end, $3::text,
    case $3 when 'queued' then p->>'hash' end, case $3 when 'queued' then 'person' end, 1, '{}', 'As agreed.', now()
  from jsonb_array_elements($2::jsonb) p returning work_packet_id`;

function shown({ workPacketId, directiveId, actionType }: NewPacket): QueuedPacket {
  return { workPacketId, directiveId, actionType };
}
