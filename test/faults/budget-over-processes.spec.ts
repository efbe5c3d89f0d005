import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../support/client.js';
import { type Service, startService } from '../support/processes.js';
import { eventually } from '../support/test-app.js';

/** How much may be spent, and of how much somebody is told. */
const BUDGET = 100;
const WARNED_FROM = 60;

let service: Service;
beforeAll(async () => {
  service = await startService(3);
}, 90_000);
afterAll(() => service.close());

interface Spent {
  amount: number;
  status: string;
}

/** What came of each amount, once nothing of it is under way. */
function spendings(workspaceId: string, count: number): Promise<Spent[]> {
  return eventually(
    () =>
      service.rows<Spent>(
        `select (p.params->>'amount')::float8 as amount, p.status from work_packets p where p.workspace_id = $1`,
        [workspaceId],
      ),
    (rows) => rows.length === count && rows.every(({ status }) => !['queued', 'sending'].includes(status)),
    60,
  );
}

/** Spends all amounts at once at three processes, under a budget; answers what was spent when all is done. */
async function spendAtOnce(
  amounts: readonly number[],
  window: string,
  meanwhile = async () => {},
): Promise<Spent[]> {
  const { workspaceId, token } = await service.createWorkspace('enterprise');
  const at = (index: number) => new Client(service.processes[index % service.processes.length]!.url, token);
  const order = await at(0).post('/standing-orders', {
    name: 'Revenue',
    effect: 'allow',
    match: { actionTypes: ['revenue.record'] },
    budget: { window, amount: BUDGET, currency: 'EUR', warnPercent: WARNED_FROM },
  });
  expect(order.body.status, order.text).toBe('active');
  const handedIn = await Promise.all(
    amounts.map((amount, index) =>
      at(index).post('/directives', {
        directive: `Record ${amount} EUR from Acme.`,
        capo: 'capo_revenue',
        requiresApproval: false,
      }),
    ),
  );
  expect(handedIn.map(({ status }) => status)).toEqual(amounts.map(() => 201));
  await meanwhile();
  const spent = await spendings(workspaceId, amounts.length);

  const executed = spent.filter(({ status }) => status === 'executed');
  const total = executed.reduce((sum, { amount }) => sum + amount, 0);
  expect(total).toBeLessThanOrEqual(BUDGET);
  const [recorded] = await service.rows<{ total: number }>(
    'select coalesce(sum(amount), 0)::float8 as total from revenue_events where workspace_id = $1',
    [workspaceId],
  );
  expect(recorded!.total).toBe(total);
  const [counted] = await service.rows<{ total: number }>(
    'select coalesce(sum(amount), 0)::float8 as total from standing_order_uses where workspace_id = $1',
    [workspaceId],
  );
  expect(counted!.total).toBe(total);
  // Nothing was held back for which there was room, at the end at the latest.
  for (const { amount, status } of spent) {
    if (status !== 'executed')
      expect({ status, fits: total + amount <= BUDGET }).toEqual({
        status: 'awaiting_approval',
        fits: false,
      });
  }
  const warned = await service.rows(
    `select 1 from signals where workspace_id = $1 and title = 'Budget nearly spent: Revenue'`,
    [workspaceId],
  );
  expect(warned).toHaveLength(total >= WARNED_FROM ? 1 : 0);
  return spent;
}

describe('a budget that three processes spend at once', () => {
  it('is not exceeded, whichever come first, and lets pass what fits', { timeout: 180_000 }, async () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 4, maxLength: 24 });
    const windows = fc.constantFrom('day', 'week', 'month');
    await fc.assert(
      fc.asyncProperty(amounts, windows, async (some, window) => {
        expect(await spendAtOnce(some, window)).toHaveLength(some.length);
      }),
      { numRuns: 6, endOnFailure: true },
    );
  });

  it('is not exceeded when one of them is killed meanwhile', { timeout: 120_000 }, async () => {
    const amounts = Array.from({ length: 24 }, (_, index) => 5 + (index % 7));
    const [victim] = service.processes.splice(2, 1);
    const spent = await spendAtOnce(amounts, 'day', () => victim!.kill());
    expect(spent.some(({ status }) => status === 'awaiting_approval')).toBe(true);
  });
});
