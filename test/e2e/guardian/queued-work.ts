import { contentHash } from '../../../src/features/work-packets/work-packet.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import type { TestApp } from '../../support/test-app.js';

export interface QueuedPacket {
  workPacketId: string;
  directiveId: string;
  actionType: 'document.file' | 'signal.raise' | 'email.send';
}

const KINDS = { 'document.file': 'document', 'signal.raise': 'signal', 'email.send': 'message' } as const;
const TYPES = Object.keys(KINDS) as QueuedPacket['actionType'][];

const PARAMS = {
  'document.file': { title: 'Memo', body: 'As agreed.' },
  'signal.raise': { type: 'agent', severity: 'info', title: 'Done', body: 'As agreed.' },
  'email.send': { to: ['jane@acme.example'], subject: 'As agreed', body: 'As agreed.' },
} as const;

/** Approved moves that wait for their turn, as the approvals of `directives` directives leave them behind. */
export async function queueWork(
  { rows, workspaceId }: TestApp,
  { directives, movesEach }: { directives: number; movesEach: number },
): Promise<QueuedPacket[]> {
  const ids = Array.from({ length: directives }, () => newId('dir'));
  const packets = ids.flatMap((directiveId) =>
    Array.from({ length: movesEach }, (_, at) => {
      const actionType = TYPES[at % TYPES.length]!;
      const content = {
        workPacketId: newId('pkt'),
        actionType,
        target: 'somebody',
        params: PARAMS[actionType],
      };
      return { ...content, directiveId, position: at, kind: KINDS[actionType], hash: contentHash(content) };
    }),
  );
  await rows(
    `insert into directives (directive_id, workspace_id, text, capo, routed_by, priority, requires_approval, context,
       status, stage, work_packet_ids, history, created_by, created_at)
     select d.id, $1, 'Do as agreed', 'capo_ops', 'operator', 'medium', true, '{}', 'sending', 'send',
       (select jsonb_agg(p->'workPacketId') from jsonb_array_elements($3::jsonb) p where p->>'directiveId' = d.id),
       '[{"from": null, "to": "sending", "at": 0, "receiptId": "rcp_x"}]', '{"type": "system", "id": "system"}', now()
     from unnest($2::text[]) as d (id)`,
    [workspaceId, ids, JSON.stringify(packets)],
  );
  // The wake-ups come in the transaction of the rows, as with an approval.
  await rows(
    `with queued as (
       insert into work_packets (work_packet_id, workspace_id, directive_id, position, capo, engine, title, kind,
         action_type, target, params, reversibility, status, allowed_hash, leverage_score, multipliers, rationale,
         created_at, due_at)
       select p->>'workPacketId', $1, p->>'directiveId', (p->>'position')::int, 'capo_ops', 'ops', 'As agreed',
         p->>'kind', p->>'actionType', p->>'target', p->'params',
         case p->>'actionType' when 'email.send' then 'irreversible' else 'reversible' end, 'queued', p->>'hash', 1,
         '{}', 'As agreed.', now(), now()
       from jsonb_array_elements($2::jsonb) p returning work_packet_id)
     select graphile_worker.add_job('packet.send', json_build_object('workspaceId', $1::text, 'id', work_packet_id),
       job_key => 'packet.send ' || work_packet_id, max_attempts => 3)
     from queued`,
    [workspaceId, JSON.stringify(packets)],
  );
  return packets.map(({ workPacketId, directiveId, actionType }) => ({
    workPacketId,
    directiveId,
    actionType,
  }));
}
