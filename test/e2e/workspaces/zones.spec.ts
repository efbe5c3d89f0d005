import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { KpiRows } from '../kpi/kpi-rows.js';
import { MAIL_TO_ACME, OrderDesk } from '../standing-orders/order-desk.js';

/** `Intl` keeps names that the database's list of zones no longer has. */
const ONLY_THE_PROGRAM_KNOWS = ['US/Pacific-New', 'Canada/East-Saskatchewan'];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let test: TestApp;
let workspace: TestWorkspace;
beforeAll(async () => {
  test = await startTestApp();
  workspace = await test.createWorkspace();
});
afterAll(() => test.close());

describe.each(ONLY_THE_PROGRAM_KNOWS)('the zone %s', (timezone) => {
  it('is refused in the settings, with the reason, and nothing changes', async () => {
    const answer = await workspace.owner.put('/settings', { timezone, locale: 'de' });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.error.details).toMatchObject([{ path: 'timezone', rule: 'isKnownZone' }]);
    expect((await workspace.owner.get('/settings')).body).toMatchObject({ timezone: 'UTC', locale: 'en' });
  });

  it('is refused in the window of a standing order', async () => {
    const when = { days: ['mon'], timezone };
    const answer = await workspace.owner.post('/standing-orders', { ...MAIL_TO_ACME, when });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.error.details).toMatchObject([{ path: 'when.timezone', rule: 'isKnownZone' }]);
  });

  it('breaks nothing where it is stored already: days begin as in UTC', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    await test.rows('update workspaces set timezone = $2 where workspace_id = $1', [workspaceId, timezone]);
    for (const path of ['/agents', '/bootstrap', '/context', '/metrics', '/settings', '/profile']) {
      expect((await owner.get(path)).status, path).toBe(200);
    }
    const budget = { window: 'month', amount: 100, currency: 'EUR' };
    await new OrderDesk(test).active({ ...MAIL_TO_ACME, budget, limits: { maxPerDay: 1 } }, owner);
    const desk = new Desk(test, owner.token);
    const { body } = await desk.client.post('/directives', {
      directive: 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.',
      capo: 'capo_ops',
      requiresApproval: false,
    });
    await desk.until(body.directiveId, 'executed');
  });
});

describe('a zone that one side has lost', () => {
  it.each([...ONLY_THE_PROGRAM_KNOWS, 'Mars/Olympus'])(
    'is UTC wherever days are told: %s',
    async (timezone) => {
      const { workspaceId, owner } = await test.createWorkspace();
      await test.rows(
        `update workspaces set timezone = $2, created_at = created_at - interval '9 days' where workspace_id = $1`,
        [workspaceId, timezone],
      );
      const midnight = Math.trunc(Date.now() / DAY_MS) * DAY_MS;
      const today = new Date(midnight).toISOString().slice(0, 10);
      // In America it is the evening of the day before.
      test.clock.stop(midnight + HOUR_MS);
      try {
        await new KpiRows(test.rows, workspaceId).revenue(midnight - HOUR_MS, 7);
        expect((await owner.get('/family/report')).body).toMatchObject({ date: today, timezone: 'UTC' });
        expect((await owner.get('/reports/config')).body.timezone).toBe('UTC');
        const daily = await owner.get(`/reports/daily?date=${today}`);
        expect(daily, daily.text).toMatchObject({ status: 200, body: { date: today, partial: true } });
        const { revenueThisWeek } = (await owner.get('/kpi')).body.tiles;
        expect(revenueThisWeek.sparkline.slice(-2)).toEqual([7, 0]);
      } finally {
        test.clock.goOn();
      }
    },
  );
});

describe('a query that takes a zone', () => {
  it('takes every zone that either side knows', async () => {
    const zones = await test.rows<{ name: string }>('select name from pg_timezone_names');
    const names = [
      ...ONLY_THE_PROGRAM_KNOWS,
      ...Intl.supportedValuesOf('timeZone'),
      ...zones.map(({ name }) => name),
      'Mars/Olympus',
      '',
    ];
    const taken = await test.rows<{ zone: string; day: Date }>(
      `select z.name as zone, date_trunc('day', now(), app.zone_or_utc(z.name)) as day from unnest($1::text[]) z (name)`,
      [names],
    );
    expect(taken).toHaveLength(names.length);
    const [none] = await test.rows('select app.zone_or_utc(null) as zone');
    expect(none).toEqual({ zone: 'UTC' });
  });
});
