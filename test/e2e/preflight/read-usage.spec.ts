import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { OrderDesk } from '../standing-orders/order-desk.js';

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 9, 24, 20);

let test: TestApp;
let ids: string[];
beforeAll(async () => {
  test = await startTestApp();
  const orders = new OrderDesk(test);
  const order = { effect: 'allow', match: { actionTypes: ['revenue.record'] }, limits: { maxPerHour: 5 } };
  ids = [
    await orders.active({ ...order, name: 'By day' }),
    await orders.active({
      ...order,
      name: 'By week',
      budget: { window: 'week', amount: 5, currency: 'EUR' },
    }),
  ];
});
afterAll(() => test.close());

const usage = (name: string, at: number) =>
  test.rows(
    `select standing_order_id, last_hour::int, last_day::int, amounts_today, budget_spent::float8
     from app.${name}($1, $2, 'Europe/Berlin', $3) order by 1`,
    [test.workspaceId, ids, new Date(at)],
  );

/** A use of an order, or a decision, so many minutes after what was before; one that goes back is a clock set back. */
const steps = fc.array(
  fc.record({
    after: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: -2, max: 1_500 })),
    order: fc.constantFrom(0, 1),
    amount: fc.integer({ min: 0, max: 9 }),
    currency: fc.constantFrom('EUR', 'USD', null),
    decides: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

describe('app.read_order_usage', () => {
  it('answers what a decision would count, at any moment, whatever was counted before', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        await test.rows('delete from standing_order_uses');
        await test.rows('delete from standing_order_usage');
        let at = START;
        for (const [index, { after, order, amount, currency, decides }] of given.entries()) {
          at += after * MINUTE_MS;
          const spent = order === 1 && currency === 'EUR' ? amount : 0;
          await test.rows(
            `insert into standing_order_uses (workspace_id, standing_order_id, work_packet_id, at, amount, currency, spent)
             values ($1, $2, 'pkt_' || $3::text, $4, $5, $6, $7)`,
            [test.workspaceId, ids[order], index, new Date(at), amount, currency, spent],
          );
          const read = await usage('read_order_usage', at);
          expect(read).toHaveLength(2);
          const decided = await usage('order_usage', at);
          expect(decided).toEqual(read);
          if (!decides) await test.rows('delete from standing_order_usage');
          expect(await usage('read_order_usage', at)).toEqual(read);
        }
      }),
      { numRuns: 25 },
    );
  }, 60_000);
});
