import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUDGET_WINDOWS } from '../../../src/features/standing-orders/standing-order.js';
import { UsesOfOrder } from '../../../src/features/standing-orders/uses-of-order.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { OrderDesk } from './order-desk.js';

const MINUTE_MS = 60_000;
const ZONE = 'Europe/Berlin';
/** Before the night in which the clock is put back. */
const START = Date.UTC(2026, 9, 24, 20);
const LIMITS = { maxPerHour: 5, maxPerDay: 50, maxAmountPerDay: 100 };

let test: TestApp;
const orders = BUDGET_WINDOWS.map((window) => ({
  limits: LIMITS,
  budget: { window, amount: 5, currency: 'EUR' },
}));
let ids: string[];
beforeAll(async () => {
  test = await startTestApp();
  const desk = new OrderDesk(test);
  ids = [];
  for (const order of orders) {
    const match = { actionTypes: ['revenue.record'] };
    ids.push(await desk.active({ ...order, name: order.budget.window, effect: 'allow', match }));
  }
});
afterAll(() => test.close());

const steps = fc.array(
  fc.record({
    minutes: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 20_000 })),
    /** Of the uses that there are, counted from the newest; none where there are not so many. */
    givesBack: fc.option(fc.nat(6)),
    amount: fc.integer({ min: 0, max: 9 }),
    currency: fc.constantFrom('EUR', 'USD', null),
    settles: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

/** What the database counts, in the shape of what the program does. */
async function counted(at: number, currency: string | null) {
  const rows = await test.rows<{ id: string; lastHour: number }>(
    `select standing_order_id as id, last_hour::int as "lastHour", last_day::int as "lastDay",
       coalesce((amounts_today->>$4)::float8, 0) as "amountToday", budget_spent::float8 as "budgetSpent"
     from app.order_usage($1, $2, '${ZONE}', $3)`,
    [test.workspaceId, ids, new Date(at), currency],
  );
  return ids.map((id) => {
    const { id: _id, ...usage } = rows.find((row) => row.id === id)!;
    return usage;
  });
}

describe('what orders have let through', () => {
  it('is counted by the database as by the simulation and the verifier, at any moment', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        await test.rows('delete from standing_order_uses');
        await test.rows('delete from standing_order_usage');
        const uses = new UsesOfOrder();
        const added: { id: string; at: number; amount: number; currency: string | null }[] = [];
        let at = START;
        for (const [index, { minutes, givesBack, amount, currency, settles }] of given.entries()) {
          at += minutes * MINUTE_MS;
          if (settles) {
            await test.rows(`select app.settle_order_usage($1, $2, '${ZONE}', $3)`, [
              test.workspaceId,
              ids,
              new Date(at),
            ]);
          }
          const use = { id: `pkt_${index}`, at, amount, currency };
          added.push(use);
          uses.add(use);
          await test.rows(
            `insert into standing_order_uses (workspace_id, standing_order_id, work_packet_id, at, amount, currency)
             select $1, o.id, $2, $3, $4, $5 from unnest($6::text[]) o (id)`,
            [test.workspaceId, use.id, new Date(at), amount, currency, ids],
          );
          const [gone] = givesBack === null ? [] : added.splice(-1 - givesBack, 1);
          if (gone && givesBack! < added.length + 1) {
            uses.giveBack(gone);
            await test.rows('delete from standing_order_uses where work_packet_id = $1', [gone.id]);
          } else if (gone) added.unshift(gone);
          const expected = orders.map((order) => uses.usage(order, { at, timezone: ZONE, currency }));
          expect(await counted(at, currency)).toEqual(expected);
        }
      }),
      { numRuns: 25 },
    );
  }, 60_000);
});
