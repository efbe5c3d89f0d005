import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Readable } from 'node:stream';
import { countReport } from '../../../src/features/verifier/report-proof.js';
import type { ExportedReceipt } from '../../../src/features/verifier/report-comparison.js';
import { receiptsIn } from '../../../src/features/verifier/verifier.js';
import { eventually, startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { PartnerDesk } from '../partner/partner-desk.js';
import { BusyDay } from '../verifier/busy-day.js';

const STEPS = 60;

let test: TestApp;
let workspace: TestWorkspace;
let day: BusyDay;
beforeAll(async () => {
  test = await startTestApp();
  workspace = await test.createWorkspace();
  await test.rows(`update workspaces set created_at = now() - interval '3 days' where workspace_id = $1`, [
    workspace.workspaceId,
  ]);
  day = new BusyDay(test, workspace);
  await day.pass(STEPS);
  for (const currency of ['EUR', 'USD', 'JPY'])
    await day.owner.post('/revenue-events', { amount: 0.1, currency, source: 'till' });
  const partner = await PartnerDesk.of(test, workspace.workspaceId);
  await partner.report({ firedAt: test.clock.now() });
}, 300_000);
afterAll(() => test.close());

/** All that the workspace has to show, in its order. */
async function exported(): Promise<ExportedReceipt[]> {
  const { text } = await day.owner.get('/audit-feed?format=jsonl');
  return receiptsIn(Readable.from([Buffer.from(text)]));
}

describe('reports of a busy day, counted again from its exported receipts', () => {
  it('are equal in every number, in whatever zone the days are', { timeout: 60_000 }, async () => {
    await day.owner.put('/reports/config', { schedule: 'on-demand' });
    const zones = ['Pacific/Auckland', 'UTC', 'America/Los_Angeles', 'Asia/Kathmandu'];
    let counted = 0;
    const seen = { executed: 0, approved: 0, blocked: 0, events: 0 };
    for (const timezone of zones) {
      await day.owner.put('/reports/config', { delivery: { timezone } });
      const today = (await day.owner.get('/reports/daily')).body.date as string;
      for (let back = -2; back < 3; back++) {
        const date = new Date(Date.parse(today) - back * 86_400_000).toISOString().slice(0, 10);
        const { status, body: report } = await day.owner.get(`/reports/daily?date=${date}`);
        if (status !== 200) continue;
        counted++;
        const { differences, notCounted } = countReport(await exported(), report, workspace.workspaceId);
        expect(differences).toEqual([]);
        // Of a report that was not made yet, some things have no receipt.
        const uncounted = report.partial
          ? [expect.stringMatching(/^date, timezone, generatedAt, partial, .*: only the/)]
          : [];
        expect(notCounted).toEqual(uncounted);
        const { agentActivity, revenue } = report.sections;
        seen.executed += agentActivity.directivesExecuted;
        seen.approved += agentActivity.movesApproved;
        seen.blocked += agentActivity.movesBlocked;
        seen.events += revenue.eventsTotal;
      }
    }
    expect(counted).toBeGreaterThan(zones.length);
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });

  it('say what the tables say', async () => {
    await day.owner.put('/reports/config', { delivery: { timezone: 'UTC' } });
    const { body: report } = await day.owner.get(
      `/reports/daily?date=${new Date(test.clock.now()).toISOString().slice(0, 10)}`,
    );
    const { guardianState, approvalQueue, tomorrowQueue } = report.sections;
    const { body: guardian } = await day.owner.get('/guardian');
    expect(guardianState.mode).toBe(guardian.mode);
    const { body: pending } = await day.owner.get('/approvals');
    expect([approvalQueue.pending, guardian.pending]).toEqual([pending.total, pending.total]);
    const [row] = await test.rows<{ n: number }>(
      `select count(*)::int as n from directives where workspace_id = $1 and status in ('queued', 'executing', 'sending', 'halted')`,
      [workspace.workspaceId],
    );
    expect(tomorrowQueue.total).toBe(row!.n);
  });

  it('name one receipt that was changed', async () => {
    const { body: report } = await day.owner.get(
      `/reports/daily?date=${new Date(test.clock.now()).toISOString().slice(0, 10)}`,
    );
    const receipts = await exported();
    const changed = receipts.find(
      ({ seq, action }) =>
        action === 'directive.sending' && seq >= report.receiptRange.from && seq <= report.receiptRange.to,
    )!;
    changed.details['packets'] = 100;
    const { differences } = countReport(receipts, report, workspace.workspaceId);
    expect(differences[0]).toMatchObject({
      path: `receipts[${changed.seq}]`,
      message: `Receipt ${changed.seq} was changed: its hash does not match its content.`,
    });
    expect(differences.map(({ path }) => path)).toContain('sections.agentActivity.movesApproved');
  });

  it('hold while it is killed, and while what was carried out is undone', async () => {
    // The day that it is there is over nowhere, so none of the reports above is of it.
    await day.owner.put('/reports/config', { delivery: { timezone: 'Pacific/Kiritimati' } });
    const today = () => new Date(test.clock.now() + 14 * 3_600_000).toISOString().slice(0, 10);
    await day.owner.post('/guardian/kill-switch');
    const killed = (await day.owner.get('/reports/daily?date=' + today())).body;
    expect(killed.sections.guardianState.mode).toBe('killed');
    expect(countReport(await exported(), killed).differences).toEqual([]);
    await day.owner.post('/guardian/revert', { mode: 'compensate', reason: 'A drill.' });
    const recovering = (await day.owner.get('/reports/daily?date=' + today())).body;
    expect(countReport(await exported(), recovering).differences).toEqual([]);
    await eventually(
      async () => (await day.owner.get('/guardian')).body.mode,
      (mode) => mode !== 'recovering' && mode !== 'killed',
      30,
    );
    const after = (await day.owner.get('/reports/daily?date=' + today())).body;
    expect(countReport(await exported(), after).differences).toEqual([]);
  });
});
