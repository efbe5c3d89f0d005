import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Workspace } from '../workspaces.js';
import type { Client } from './client.js';
import type { MailReceiver } from './mail-receiver.js';
import type { Accepted } from './traffic.js';

const LOOK_EVERY_MS = 500;
/** What moves no further for so long will not. */
const STUCK_AFTER_MS = 60_000;

const OPEN = `status not in ('executed', 'failed', 'rejected', 'expired', 'cancelled', 'reverted')`;

/** Waits until all that was handed in has come to its end, or nothing moves any more. */
export async function drained(owner: pg.Client): Promise<void> {
  let [last, since] = ['', performance.now()];
  for (;;) {
    const { rows } = await owner.query<{ open: number; work: number }>(
      `select (select count(*) from directives where ${OPEN})::int as open, (select count(*) from work_items)::int as work`,
    );
    const { open, work } = rows[0]!;
    if (open === 0 && work === 0) return;
    const now = `${open} ${work}`;
    if (now !== last) [last, since] = [now, performance.now()];
    else if (performance.now() - since > STUCK_AFTER_MS) return;
    await pause(LOOK_EVERY_MS);
  }
}

/** What must not be after a soak; empty when all is well. */
export async function findings(
  owner: pg.Client,
  accepted: readonly Accepted[],
  mails: MailReceiver,
): Promise<string[]> {
  const { rows } = await owner.query<{ directive_id: string; status: string }>(
    'select directive_id, status from directives',
  );
  const statuses = new Map(rows.map((row) => [row.directive_id, row.status]));
  const unexecuted = accepted.filter(({ directiveId }) => statuses.get(directiveId) !== 'executed');
  const sent = accepted.map(({ customer }) => mails.byRecipient.get(customer) ?? 0);
  const { rows: left } = await owner.query<{ kind: string; count: number }>(
    'select kind, count(*)::int as count from work_items group by kind order by kind',
  );
  const counts: [count: number, what: string][] = [
    [unexecuted.length, 'accepted directives were not executed'],
    [sent.filter((times) => times === 0).length, 'mails were lost'],
    [sent.filter((times) => times > 1).length, 'customers got more than one mail'],
    [[...mails.byMessageId.values()].filter((times) => times > 1).length, 'mails came more than once'],
    [mails.byRecipient.size - sent.filter((times) => times > 0).length, 'mails came that nobody handed in'],
    ...left.map(({ kind, count }) => [count, `${kind} are left in work_items`] as [number, string]),
  ];
  return counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
}

/** The workspaces whose chain has a fault. */
export async function brokenChains(client: Client, workspaces: readonly Workspace[]): Promise<string[]> {
  const broken: string[] = [];
  for (const { workspaceId, token } of workspaces) {
    const { status, body } = await client.get('/audit-feed/verify', token);
    const isWhole = status === 200 && (JSON.parse(body) as { ok: boolean }).ok;
    if (!isWhole) broken.push(`the chain of ${workspaceId} is not whole: ${status} ${body.slice(0, 300)}`);
  }
  return broken;
}
