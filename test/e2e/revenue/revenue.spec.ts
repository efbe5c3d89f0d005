import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RevenueEvents } from '../../../src/features/revenue/revenue-events.repository.js';
import { type Actor, SYSTEM } from '../../../src/platform/auth/caller.js';
import { Db } from '../../../src/platform/database/db.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const DAY_MS = 86_400_000;
const SALE = { amount: 1250.5, currency: 'EUR', source: 'stripe' };

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

describe('what the program records itself', () => {
  const CAPO: Actor = { type: 'capo', id: 'capo_revenue', name: 'Capo Revenue', via: 'policy' };

  it('is one event per external id, with the capo on its receipt', async () => {
    const externalId = newId('pkt');
    const record = () =>
      test.app
        .get(Db)
        .transaction({ workspaceId: test.workspaceId, teamIds: 'all' }, () =>
          test.app.get(RevenueEvents).record({ ...SALE, description: null, externalId, recordedBy: CAPO }),
        );
    const first = await record();
    const second = await record();
    expect(first.isNew).toBe(true);
    expect(second).toEqual({ event: first.event, isNew: false });
    const bodies = await test.rows<{ body: string }>('select body from receipts where entity_id = $1', [
      first.event.eventId,
    ]);
    expect(bodies.map(({ body }) => JSON.parse(body))).toMatchObject([{ capo: 'capo_revenue', actor: CAPO }]);
  });
});

describe('the sums', () => {
  const at = Date.UTC(2026, 10, 20, 12);

  const recorded = async (events: { amount: number; ago: number; currency?: string }[]) => {
    const { workspaceId } = await test.createWorkspace();
    const scope = { workspaceId, teamIds: 'all' as const };
    await test.app.get(Db).transaction(scope, async () => {
      for (const { amount, ago, currency = 'EUR' } of events) {
        const event = { amount, currency, source: 'test', description: null, externalId: null };
        await test.app.get(RevenueEvents).record({ ...event, occurredAt: at - ago, recordedBy: SYSTEM });
      }
    });
    return test.app.get(RevenueEvents).sums(scope, at);
  };

  it('are nothing without events', async () => {
    expect(await recorded([])).toEqual({ currency: null, h24: 0, d7: 0, d30: 0 });
  });

  it('take each event into the windows it lies in, the end of a window included and its start not', async () => {
    const sums = await recorded([
      { amount: 1, ago: 0 },
      { amount: 10, ago: DAY_MS - 1 },
      { amount: 100, ago: DAY_MS },
      { amount: 1000, ago: 7 * DAY_MS },
      { amount: -0.25, ago: 8 * DAY_MS },
      { amount: 10_000, ago: 30 * DAY_MS },
      { amount: 100_000, ago: -1 },
    ]);
    expect(sums).toEqual({ currency: 'EUR', h24: 11, d7: 111, d30: 1110.75 });
  });

  it('add up one currency only, the one of most events', async () => {
    const sums = await recorded([
      { amount: 5, ago: 1, currency: 'USD' },
      { amount: 7, ago: 2, currency: 'USD' },
      { amount: 1_000_000, ago: 1, currency: 'JPY' },
    ]);
    expect(sums).toEqual({ currency: 'USD', h24: 12, d7: 12, d30: 12 });
  });
});
