import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BriefingReader } from '../../../src/features/capos/briefing.reader.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';

let test: TestApp;
let workspace: TestWorkspace;
beforeAll(async () => {
  test = await startTestApp();
});
beforeEach(async () => {
  workspace = await test.createWorkspace();
});
afterAll(() => test.close());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NO_DIRECTIVES = {
  pending_approval: 0,
  queued: 0,
  executing: 0,
  sending: 0,
  executed: 0,
  failed: 0,
  rejected: 0,
  expired: 0,
  cancelled: 0,
  halted: 0,
  reverted: 0,
};

async function directive(
  status: string,
  ago: number,
  amount: number,
  teamId: string | null = null,
): Promise<string> {
  const directiveId = newId('dir');
  await test.rows(
    `insert into directives (directive_id, workspace_id, team_id, text, capo, routed_by, priority, requires_approval,
       context, status, cost, created_by, created_at, started_at)
     values ($1, $2, $3, 'x', 'capo_ops', 'operator', 'medium', true, '{}', $4, $5, '{}', $6, $6)`,
    [
      directiveId,
      workspace.workspaceId,
      teamId,
      status,
      { amount, currency: 'USD' },
      new Date(Date.now() - ago),
    ],
  );
  return directiveId;
}

async function approval(status: string, ago: number, tookMs: number | null): Promise<void> {
  const directiveId = await directive('executed', 90 * DAY_MS, 0);
  const at = Date.now() - ago;
  await test.rows(
    `insert into approvals (approval_id, workspace_id, directive_id, kind, round, status, ready, title, summary, priority,
       risk, reversibility, requested_by, requested_at, expires_at, on_expiry, decided_at)
     values ($1, $2, $3, 'output', 0, $4, true, 't', 's', 'medium', 'low', 'reversible', '{}', $5, $6, 'reject', $7)`,
    [
      newId('apr'),
      workspace.workspaceId,
      directiveId,
      status,
      new Date(at - (tookMs ?? 0)),
      new Date(at + DAY_MS),
      tookMs === null ? null : new Date(at),
    ],
  );
}

async function revenue(amount: number, ago: number, currency = 'EUR'): Promise<void> {
  await test.rows(
    `insert into revenue_events (event_id, workspace_id, amount, currency, source, occurred_at, recorded_by, created_at)
     values ($1, $2, $3, $5, 'shop', $4, '{}', now())`,
    [newId('rev'), workspace.workspaceId, amount, new Date(Date.now() - ago), currency],
  );
}

describe('GET /metrics 200', () => {
  it('answers zeros for a new workspace', async () => {
    const answer = await workspace.owner.get('/metrics');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ratelimit-limit')).toBe('30');
    expect(answer.body).toEqual({
      revenue: { currency: 'USD', h24: 0, d7: 0, d30: 0, byCurrency: {} },
      signalsScored: 0,
      directives: NO_DIRECTIVES,
      approvals: { pending: 0, medianDecisionMs: null, expired: 0 },
      cost: { currency: 'USD', h24: 0, d7: 0, d30: 0, byCurrency: {} },
    });
  });

  it('sums revenue by window, as the context does', async () => {
    await workspace.owner.put('/settings', { currency: 'EUR' });
    await revenue(100.25, HOUR_MS);
    await revenue(20.5, 2 * DAY_MS);
    await revenue(3, 8 * DAY_MS);
    await revenue(4_000, 31 * DAY_MS);
    const { body } = await workspace.owner.get('/metrics');
    expect(body.revenue).toEqual({ currency: 'EUR', h24: 100.25, d7: 120.75, d30: 123.75, byCurrency: {} });
    const context = await workspace.owner.get('/context');
    expect(context.body.metrics).toEqual({ revenue24h: 100.25, signalsScored: body.signalsScored });
  });

  it('never adds up amounts of different currencies', async () => {
    await revenue(600.5, HOUR_MS, 'EUR');
    await revenue(100, HOUR_MS, 'USD');
    await revenue(9_000, 2 * DAY_MS, 'JPY');
    await directive('executed', HOUR_MS, 0.5);
    const inDollars = (await workspace.owner.get('/metrics')).body;
    expect(inDollars.revenue).toEqual({
      currency: 'USD',
      h24: 100,
      d7: 100,
      d30: 100,
      byCurrency: {
        EUR: { h24: 600.5, d7: 600.5, d30: 600.5 },
        JPY: { h24: 0, d7: 9_000, d30: 9_000 },
      },
    });
    expect((await workspace.owner.get('/context')).body.metrics.revenue24h).toBe(100);

    await workspace.owner.put('/settings', { currency: 'EUR' });
    const inEuros = (await workspace.owner.get('/metrics')).body;
    expect(inEuros.revenue).toMatchObject({ currency: 'EUR', h24: 600.5, byCurrency: { USD: { h24: 100 } } });
    expect(inEuros.cost).toEqual({
      currency: 'USD',
      h24: 0.5,
      d7: 0.5,
      d30: 0.5,
      byCurrency: {},
    });
    expect((await workspace.owner.get('/context')).body.metrics.revenue24h).toBe(600.5);
    const scope = { workspaceId: workspace.workspaceId, teamIds: 'all' } as const;
    const briefing = await test.app.get(BriefingReader).read(scope, {
      directiveId: 'dir_1',
      teamId: null,
      text: 'Anything.',
      capo: 'ceo',
      priority: 'medium',
      context: {},
      deadline: null,
      feedback: [],
      createdBy: { type: 'member', id: 'mem_1', name: 'Ann', via: 'api' },
    });
    expect(briefing.metrics).toMatchObject({
      currency: 'EUR',
      revenue24h: 600.5,
      revenue24hByCurrency: { USD: 100 },
    });
  });

  it('counts directives by status and sums what their drafts cost', async () => {
    await directive('executed', HOUR_MS, 0.5);
    await directive('executed', 3 * DAY_MS, 0.25);
    await directive('failed', 20 * DAY_MS, 1);
    await directive('rejected', 40 * DAY_MS, 8);
    const { body } = await workspace.owner.get('/metrics');
    expect(body.directives).toEqual({ ...NO_DIRECTIVES, executed: 2, failed: 1, rejected: 1 });
    expect(body.cost).toEqual({ currency: 'USD', h24: 0.5, d7: 0.75, d30: 1.75, byCurrency: {} });
  });

  it('tells the median time of decisions, pending and expired approvals', async () => {
    await approval('approved', HOUR_MS, 1_000);
    await approval('rejected', HOUR_MS, 3_000);
    await approval('changes_requested', DAY_MS, 10_000);
    await approval('cancelled', HOUR_MS, 500_000);
    await approval('expired', DAY_MS, 72 * HOUR_MS);
    await approval('pending', HOUR_MS, null);
    await approval('approved', 31 * DAY_MS, 900_000);
    const { body } = await workspace.owner.get('/metrics');
    expect(body.approvals).toEqual({ pending: 1, medianDecisionMs: 3_000, expired: 1 });
  });

  it('leaves out what the caller may not see', async () => {
    const teamId = await test.createTeam(workspace.workspaceId, 'Depot');
    const outsider = await test.createMember(workspace.workspaceId, 'viewer');
    await directive('executed', HOUR_MS, 0.5, teamId);
    expect((await workspace.owner.get('/metrics')).body.directives.executed).toBe(1);
    expect((await outsider.get('/metrics')).body).toMatchObject({
      directives: NO_DIRECTIVES,
      cost: { h24: 0 },
    });
    const stranger = await test.createWorkspace();
    expect((await stranger.owner.get('/metrics')).body).toMatchObject({ directives: NO_DIRECTIVES });
  });
});
