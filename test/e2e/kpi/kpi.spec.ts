import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KpiService } from '../../../src/features/kpi/kpi.service.js';
import { DeleteExpired } from '../../../src/features/tenancy/deletion.service.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { KpiRows } from './kpi-rows.js';

let test: TestApp;
let workspace: TestWorkspace;
let kpi: KpiRows;
beforeAll(async () => {
  test = await startTestApp();
});
beforeEach(async () => {
  test.clock.goOn();
  workspace = await test.createWorkspace();
  kpi = new KpiRows(test.rows, workspace.workspaceId);
});
afterAll(() => test.close());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NONE = Array.from({ length: 30 }, () => 0);
/** A Thursday, years ahead: figures are deleted 100 days after their time by the clock of the database. */
const NOON = Date.parse('2036-05-15T12:00:00Z');

const tile = (unit: string, value: number | null = 0, more: object = {}) => ({
  value,
  unit,
  changePercent: null,
  sparkline: value === null ? NONE.map(() => null) : NONE,
  ...more,
});
/** Numbers of the last days, today being the last. */
const lately = (...numbers: number[]) => [...NONE.slice(numbers.length), ...numbers];

describe('GET /kpi 200', () => {
  it('answers the six tiles of a new workspace', async () => {
    test.clock.stop(NOON);
    const answer = await workspace.owner.get('/kpi');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      generatedAt: NOON,
      teamId: null,
      outsideAgents: [],
      // Seven days in the zone of the workspace, today being one.
      outsideAgentsSince: Date.parse('2036-05-09T00:00:00Z'),
      tiles: {
        revenueThisWeek: tile('USD', 0, { byCurrency: {} }),
        packetsExecuted: tile('packets'),
        approvalsPending: tile('approvals'),
        costLast7Days: tile('USD', 0, { byCurrency: {} }),
        evalPassRate: tile('percent', null),
        connectorHealth: tile('percent', null),
      },
      computedInMs: expect.any(Number),
    });
  });

  it('compares the week with the one before up to the same quarter of an hour, and leaves other currencies out', async () => {
    test.clock.stop(NOON);
    await kpi.revenue(NOON - HOUR_MS, 100);
    await kpi.revenue(NOON - 3 * DAY_MS, 50.25);
    await kpi.revenue(NOON - HOUR_MS, 9_000, 'JPY');
    // Sunday is of the week before; of last Thursday only the morning counts.
    await kpi.revenue(NOON - 4 * DAY_MS, 7);
    await kpi.revenue(NOON - 7 * DAY_MS - 1, 100);
    await kpi.revenue(NOON - 7 * DAY_MS, 1_000);
    const { revenueThisWeek } = (await workspace.owner.get('/kpi')).body.tiles;
    expect(revenueThisWeek).toEqual({
      value: 150.25,
      unit: 'USD',
      changePercent: 50.3,
      sparkline: lately(1_100, 0, 0, 7, 50.25, 0, 0, 100),
      byCurrency: { JPY: 9_000 },
    });
    await workspace.owner.put('/settings', { currency: 'JPY' });
    expect((await workspace.owner.get('/kpi')).body.tiles.revenueThisWeek).toMatchObject({
      value: 9_000,
      unit: 'JPY',
      changePercent: null,
      byCurrency: { USD: 150.25 },
    });
  });

  it('shows how many approvals waited at the end of each day', async () => {
    test.clock.stop(NOON);
    await kpi.approval(NOON - 2 * DAY_MS);
    await kpi.decide(await kpi.approval(NOON - 2 * DAY_MS), NOON - DAY_MS, 'rejected');
    await kpi.approval(NOON - HOUR_MS);
    await kpi.approval(NOON - 8 * DAY_MS);
    const { approvalsPending } = (await workspace.owner.get('/kpi')).body.tiles;
    expect(approvalsPending).toEqual({
      value: 3,
      unit: 'approvals',
      changePercent: 200,
      sparkline: lately(1, 1, 1, 1, 1, 1, 3, 2, 3),
    });
  });

  it('asks whoever has registered for the health of the connectors; a source that fails leaves its tile empty', async () => {
    test.clock.stop(NOON);
    const tiles = test.app.get(KpiService);
    const asked: unknown[] = [];
    const teamId = await test.createTeam(workspace.workspaceId, 'Depot');
    tiles.register('connectorHealth', async (question) => {
      asked.push(question);
      return { value: 75, before: 100, sparkline: NONE.map(() => 100) };
    });
    const { connectorHealth } = (await workspace.owner.get(`/kpi?teamId=${teamId}`)).body.tiles;
    expect(connectorHealth).toEqual({
      value: 75,
      unit: 'percent',
      changePercent: -25,
      sparkline: NONE.map(() => 100),
    });
    expect(asked).toEqual([
      {
        scope: { workspaceId: workspace.workspaceId, teamIds: 'all' },
        teamId,
        at: NOON,
        days: expect.toSatisfy((days: unknown[]) => days.length === 30),
      },
    ]);
    tiles.register('connectorHealth', () => Promise.reject(new Error('broken')));
    const answer = await workspace.owner.get('/kpi');
    expect(answer.status).toBe(200);
    expect(answer.body.tiles.connectorHealth).toEqual(tile('percent', null));
    expect(test.logs.some(({ msg }) => String(msg).includes('connectorHealth could not be read'))).toBe(true);
  });

  it('shows a member of one team the numbers of that team alone', async () => {
    const own = await test.createTeam(workspace.workspaceId, 'Own');
    const other = await test.createTeam(workspace.workspaceId, 'Other');
    const member = await test.createMember(workspace.workspaceId, 'operator', [own]);
    await kpi.revenue(Date.now(), 1, 'USD', own);
    await kpi.revenue(Date.now(), 10, 'USD', other);
    await kpi.revenue(Date.now(), 100);
    const revenue = async (reader: { get: TestWorkspace['owner']['get'] }, path = '/kpi') => {
      const { body } = await reader.get(path);
      return [body.teamId, body.tiles.revenueThisWeek.value];
    };
    for (const fold of [false, true]) {
      if (fold) await kpi.fold();
      expect(await revenue(member)).toEqual([own, 1]);
      expect(await revenue(member, `/kpi?teamId=${own}`)).toEqual([own, 1]);
      expect(await revenue(workspace.owner)).toEqual([null, 111]);
      expect(await revenue(workspace.owner, `/kpi?teamId=${other}`)).toEqual([other, 10]);
      const foreign = await test.createWorkspace();
      expect(await revenue(foreign.owner)).toEqual([null, 0]);
    }
  });

  it('counts revenue that a member of a team reports as the team’s', async () => {
    const teamId = await test.createTeam(workspace.workspaceId, 'Shop');
    const reporter = await test.createMember(workspace.workspaceId, 'operator');
    await test.rows(
      `insert into team_members (workspace_id, team_id, member_id, role) values ($1, $2, $3, 'operator')`,
      [workspace.workspaceId, teamId, reporter.memberId],
    );
    const reported = await reporter.post('/revenue-events', { amount: 12, currency: 'USD', source: 'shop' });
    expect(reported.status).toBe(201);
    expect((await workspace.owner.get('/kpi')).body.tiles.revenueThisWeek.value).toBe(12);
    expect((await reporter.get('/kpi')).body.tiles.revenueThisWeek.value).toBe(12);
    const inNone = await test.createMember(workspace.workspaceId, 'viewer');
    expect((await inNone.get('/kpi')).body.tiles.revenueThisWeek.value).toBe(0);
  });

  it('keeps its figures for 100 days', async () => {
    await kpi.revenue(Date.now() - 99 * DAY_MS, 1);
    await kpi.revenue(Date.now() - 101 * DAY_MS, 1);
    await kpi.fold();
    const left = () =>
      test.rows('select bucket from tallies where workspace_id = $1', [workspace.workspaceId]);
    expect(await left()).toHaveLength(4);
    await test.app.get(DeleteExpired).execute();
    expect(await left()).toHaveLength(2);
  });
});

describe('GET /kpi 304', () => {
  it('answers nothing while no tile has changed, and the tiles as soon as one has', async () => {
    const first = await workspace.owner.get('/kpi');
    const tag = first.headers.get('etag')!;
    expect(tag).toMatch(/^W\/"[0-9a-f]{32}"$/);
    expect(first.headers.get('cache-control')).toBe('private, max-age=30, must-revalidate');
    expect(first.headers.get('vary')).toMatch(/x-service-token/i);
    for (const known of [tag, `"other", ${tag}`, '*', tag.slice(2)]) {
      const again = await workspace.owner.get('/kpi', { 'If-None-Match': known });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
      expect(again.headers.get('cache-control')).toBe('private, max-age=30, must-revalidate');
    }
    await workspace.owner.post('/revenue-events', { amount: 5, currency: 'USD', source: 'shop' });
    const changed = await workspace.owner.get('/kpi', { 'If-None-Match': tag });
    expect([changed.status, changed.body.tiles.revenueThisWeek.value]).toEqual([200, 5]);
    expect(changed.headers.get('etag')).not.toBe(tag);
  });

  it('tells a team from all teams', async () => {
    const teamId = await test.createTeam(workspace.workspaceId, 'Depot');
    const all = (await workspace.owner.get('/kpi')).headers.get('etag')!;
    const ofTeam = await workspace.owner.get(`/kpi?teamId=${teamId}`, { 'If-None-Match': all });
    expect(ofTeam.status).toBe(200);
  });

  it('is no answer to a tag that is none', async () => {
    for (const tag of ['', 'x', 'W/', '""', '"'.repeat(200)]) {
      expect((await workspace.owner.get('/kpi', { 'If-None-Match': tag })).status, tag).toBe(200);
    }
  });
});

describe('GET /kpi 401', () => {
  it('refuses whoever has no token, and keeps that in no cache', async () => {
    const answer = await workspace.owner.get('/kpi', { 'x-service-token': 'cons_nobody' });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([401, 'no-store']);
  });
});

describe('GET /kpi 404', () => {
  it('does not tell a team that one may not see from one that does not exist', async () => {
    const own = await test.createTeam(workspace.workspaceId, 'Own');
    const other = await test.createTeam(workspace.workspaceId, 'Other');
    const member = await test.createMember(workspace.workspaceId, 'operator', [own]);
    const outsider = await test.createMember(workspace.workspaceId, 'viewer');
    const foreign = await test.createWorkspace();
    const of = async (reader: { get: TestWorkspace['owner']['get'] }, teamId: string) => {
      const { status, body, headers } = await reader.get(`/kpi?teamId=${teamId}`);
      return [status, body.error?.code, headers.get('cache-control'), headers.get('etag')];
    };
    const missing = [404, 'NOT_FOUND', 'no-store', null];
    expect(await of(member, other)).toEqual(missing);
    expect(await of(member, newId('team'))).toEqual(missing);
    expect(await of(outsider, own)).toEqual(missing);
    expect(await of(foreign.owner, own)).toEqual(missing);
    expect(await of(workspace.owner, newId('team'))).toEqual(missing);
  });
});

describe('GET /kpi 422', () => {
  it.each(['teamId=', 'teamId=x', 'teamId=*', 'teamId=team_1', 'teamId=a&teamId=b', 'team=x', 'days=30'])(
    'names the fault of ?%s',
    async (query) => {
      const { status, body } = await workspace.owner.get(`/kpi?${query}`);
      expect([status, body.error.code]).toEqual([422, 'VALIDATION_FAILED']);
      expect(body.error.details[0].path).toBe(query.split('=')[0]);
    },
  );
});
