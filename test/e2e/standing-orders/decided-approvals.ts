import type { DecidedApproval } from '../../../src/features/suggestions/decided-approvals.reader.js';
import { suggestionsFrom } from '../../../src/features/suggestions/suggestion.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import type { GuardianMode } from '../../../src/features/terms/terms.js';
import type { TestApp } from '../../support/test-app.js';
import { RecordedHistory } from './history.js';

interface Given {
  teamId?: string | null;
  status?: DecidedApproval['status'];
  daysAgo?: number;
  to?: string;
  isEdited?: boolean;
  count?: number;
  requiresApproval?: boolean;
  /** The guardian's, when it was decided. */
  mode?: GuardianMode;
}

/** Leaves approvals of one mail each, and a decision, as they are stored once a person has decided them; answers what they suggest. */
export async function leaveDecided(test: TestApp, workspaceId: string, given: Given = {}): Promise<string> {
  const { teamId = null, status = 'approved', daysAgo = 1, count = 5, isEdited = false } = given;
  const { to = 'jane@acme.example', requiresApproval = false, mode = 'guardrailed' } = given;
  const directiveId = newId('dir');
  await test.rows(
    `insert into directives (directive_id, workspace_id, team_id, text, routed_by, priority, requires_approval, context, status,
       created_by, created_at)
     values ($1, $2, $3, 'Mail', 'operator', 'medium', $4, '{}', 'executed', '{}', now())`,
    [directiveId, workspaceId, teamId, requiresApproval],
  );
  const action = {
    type: 'email.send',
    target: to,
    params: { to: [to], subject: 'Delivery', body: 'Friday.' },
  };
  await test.rows(
    `insert into approvals (approval_id, workspace_id, team_id, directive_id, capo, kind, round, status, ready, title, summary, priority,
       risk, concerns, reversibility, packets, inputs_needed, revisions, requested_by, requested_at, expires_at, on_expiry, decided_at)
     select $1 || n, $2, $3, $4, 'capo_ops', 'output', 0, $5, true, 'Mail', 'Mail', 'medium', 'medium', '[]', 'irreversible', $6, 0, $7,
       '{}', now(), now(), 'reject', now() - $8 * interval '1 day' from generate_series(1, $9) n`,
    [
      newId('apr'),
      workspaceId,
      teamId,
      directiveId,
      status,
      JSON.stringify([{ workPacketId: newId('pkt'), action }]),
      JSON.stringify(isEdited ? [{ n: 1 }, { n: 2 }] : [{ n: 1 }]),
      daysAgo,
      count,
    ],
  );
  await new RecordedHistory(test, workspaceId).decided({
    mode,
    packet: {
      capo: 'capo_ops',
      teamId: teamId as `team_${string}` | null,
      actionType: 'email.send',
      reversibility: 'irreversible',
      target: to,
      params: { to: [to] },
      recipients: 1,
    },
  });
  const approval: DecidedApproval = {
    approvalId: newId('apr'),
    directiveId,
    teamId: teamId as `team_${string}` | null,
    capo: 'capo_ops',
    agent: null,
    status: 'approved',
    decidedAt: Date.now(),
    isEdited: false,
    packets: [
      { type: 'email.send', target: to, destinationId: null, amount: null, currency: null, recipients: 1 },
    ],
  };
  return suggestionsFrom(Array.from({ length: 5 }, () => approval))[0]!.suggestionId;
}
