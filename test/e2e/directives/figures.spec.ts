import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BriefingReader } from '../../../src/features/capos/briefing.reader.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { leaveActionRequest } from '../action-requests/action-request-rows.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

/** 3 December 2026, 15:30 in Kolkata, which is five and a half hours ahead of UTC. */
const NOW = Date.UTC(2026, 11, 3, 10);

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** What a capo is given for a report. */
function briefingOf(workspaceId: string) {
  const directive = {
    directiveId: newId('dir'),
    teamId: null,
    text: 'Report on the revenue of the last week.',
    capo: 'capo_revenue',
    priority: 'medium',
    context: null,
    deadline: null,
    feedback: [],
    createdBy: { type: 'member', id: newId('mem'), name: 'Ada', via: 'api' },
  } as unknown as Parameters<BriefingReader['read']>[1];
  return test.app.get(BriefingReader).read({ workspaceId, teamIds: 'all' }, directive);
}

async function figuresOf(workspaceId: string) {
  return (await briefingOf(workspaceId)).figures!;
}

async function leaveRevenue(workspaceId: string, events: readonly [amount: number, at: number][]) {
  for (const [amount, at] of events) {
    await test.rows(
      `insert into revenue_events (event_id, workspace_id, amount, currency, source, occurred_at, recorded_by, created_at)
       values ($1, $2, $3, 'EUR', 'Krone', $4, '{}', $4)`,
      [newId('rev'), workspaceId, amount, new Date(at)],
    );
  }
}

describe('the figures of a report', () => {
  it('are of the day of the workspace, where its midnight lies within an hour of UTC too', async () => {
    test.clock.stop(NOW);
    const { workspaceId } = await test.createWorkspace();
    await test.rows(`update workspaces set timezone = 'Asia/Kolkata' where workspace_id = $1`, [workspaceId]);
    const reported: [amount: number, at: number][] = [
      [1, Date.UTC(2026, 11, 1, 18, 29)], // 23:59 on the 1st
      [20, Date.UTC(2026, 11, 1, 18, 30)], // 00:00 on the 2nd
      [300, Date.UTC(2026, 11, 2, 10)],
      [4_000, Date.UTC(2026, 11, 2, 18, 45)], // 00:15 on the 3rd
    ];
    await leaveRevenue(workspaceId, reported);
    const { days } = await figuresOf(workspaceId);
    expect(days.map(({ day, revenue }) => [day, revenue])).toEqual([
      ['2026-12-01', { EUR: 1 }],
      ['2026-12-02', { EUR: 320 }],
      ['2026-12-03', { EUR: 4_000 }],
    ]);
  });

  it('begin with the first day that is complete where there are more signals than are read', async () => {
    test.clock.stop(NOW);
    const { workspaceId } = await test.createWorkspace();
    await test.rows(
      `insert into signals (signal_id, workspace_id, type, severity, title, body, source, created_at)
       select 'sig_' || lpad(n::text, 26, '0'), $1, 'agent', 'info', 'A', 'B', '{}',
         $2::timestamptz - case when n <= 100 then interval '0' when n <= 4000 then interval '1 day' else interval '2 days' end
       from generate_series(1, 6000) n`,
      [workspaceId, new Date(NOW)],
    );
    const { since, days } = await figuresOf(workspaceId);
    expect(since).toBe('2026-12-02');
    expect(days.map(({ day, signals }) => [day, signals])).toEqual([
      ['2026-12-02', { info: 3_900 }],
      ['2026-12-03', { info: 100 }],
    ]);
  });

  it('stay on the new day while the clock is set back over midnight', async () => {
    test.clock.stop(Date.UTC(2010, 10, 8, 12));
    const { workspaceId } = await test.createWorkspace();
    await test.rows(`update workspaces set timezone = 'America/St_Johns' where workspace_id = $1`, [
      workspaceId,
    ]);
    await leaveRevenue(workspaceId, [
      [1, Date.UTC(2010, 10, 7, 2, 29)], // 23:59 on the 6th
      [20, Date.UTC(2010, 10, 7, 2, 30)], // 00:00 on the 7th
      [300, Date.UTC(2010, 10, 7, 2, 45)], // 23:15 on the 6th, once more
      [4_000, Date.UTC(2010, 10, 8, 3, 30)], // 00:00 on the 8th
    ]);
    const { since, days } = await figuresOf(workspaceId);
    expect(since).toBe('2010-08-08');
    expect(days.map(({ day, revenue }) => [day, revenue])).toEqual([
      ['2010-11-06', { EUR: 1 }],
      ['2010-11-07', { EUR: 320 }],
      ['2010-11-08', { EUR: 4_000 }],
    ]);
  });

  it('are of the days of UTC in a zone that the database does not know any more', async () => {
    test.clock.stop(NOW);
    const { workspaceId } = await test.createWorkspace();
    await test.rows(`update workspaces set timezone = 'US/Pacific-New' where workspace_id = $1`, [
      workspaceId,
    ]);
    await leaveRevenue(workspaceId, [[5, Date.UTC(2026, 11, 3, 1)]]);
    const { since, days } = await figuresOf(workspaceId);
    expect(since).toBe('2026-09-02');
    expect(days.map(({ day, revenue }) => [day, revenue])).toEqual([['2026-12-03', { EUR: 5 }]]);
  });

  it('count what waits for a person as every other place does, requests of agents included', async () => {
    test.clock.stop(NOW);
    const { workspaceId, owner } = await test.createWorkspace();
    await leaveActionRequest(owner, { tool: 'crm.refund' });
    const { figures, guardian } = await briefingOf(workspaceId);
    expect([guardian.pending, figures!.openApprovals.length]).toEqual([1, 1]);
    for (const path of ['/guardian', '/context', '/bootstrap']) {
      const { body } = await owner.get(path);
      expect((body.guardian ?? body).pending, path).toBe(1);
    }
    const { body } = await owner.get('/approvals');
    expect(body.total).toBe(1);
  });
});
