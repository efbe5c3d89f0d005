import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DirectiveView } from '../../../src/features/directives/directives.dto.js';
import { eventually, startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { OrderDesk } from './order-desk.js';

const DAY = 24 * 3_600_000;
const BUDGET = { window: 'day', amount: 100, currency: 'EUR', warnPercent: 80 };
const REVENUE = {
  name: 'Revenue',
  effect: 'allow',
  match: { actionTypes: ['revenue.record'] },
  budget: BUDGET,
};

let test: TestApp;
let desk: OrderDesk;
let workspace: TestWorkspace;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
beforeEach(async () => {
  workspace = await test.createWorkspace();
});
afterEach(() => test.clock.goOn());
afterAll(() => test.close());

/** Has revenue recorded that nobody wants to approve; answers the directive's status once it ended or waits. */
async function spend(amount: number, currency = 'EUR'): Promise<string> {
  const answer = await desk.elsewhere(workspace.owner).post('/directives', {
    directive: `Record ${amount} ${currency} from Acme.`,
    capo: 'capo_revenue',
    requiresApproval: false,
  });
  const { status } = await eventually(
    async () =>
      (await desk.elsewhere(workspace.owner).get<DirectiveView>(`/directives/${answer.body.directiveId}`))
        .body,
    (directive) => !['queued', 'executing', 'sending'].includes(directive.status),
  );
  return status;
}

function warnings() {
  return test.rows<{
    title: string;
    body: string;
    type: string;
    severity: string;
    entity: object;
    team_id: string;
  }>(
    `select title, body, type, severity, entity, team_id from signals
     where workspace_id = $1 and title like 'Budget nearly spent%'`,
    [workspace.workspaceId],
  );
}

describe('a budget', () => {
  it('warns once when so much of it is spent, and stops at its end', async () => {
    const standingOrderId = await desk.create(REVENUE, workspace.owner);
    expect(await spend(79)).toBe('executed');
    expect(await warnings()).toEqual([]);
    expect(await spend(1)).toBe('executed');
    expect(await warnings()).toEqual([
      {
        title: 'Budget nearly spent: Revenue',
        body: '80 of the 100 EUR that the standing order "Revenue" may spend in this day are used.',
        type: 'policy',
        severity: 'warning',
        entity: { type: 'standing_order', id: standingOrderId },
        team_id: null,
      },
    ]);
    expect(await spend(20)).toBe('executed');
    expect(await spend(1)).toBe('pending_approval');
    expect(await warnings()).toHaveLength(1);
  });

  it('warns again in its next window', async () => {
    await desk.create(REVENUE, workspace.owner);
    expect(await spend(90)).toBe('executed');
    test.clock.advance(DAY);
    expect(await spend(90)).toBe('executed');
    expect(await warnings()).toHaveLength(2);
  });

  it('does not warn of what is refused, nor where nobody asked for it', async () => {
    await desk.create({ ...REVENUE, budget: { ...BUDGET, warnPercent: null } }, workspace.owner);
    expect(await spend(101)).toBe('pending_approval');
    expect(await spend(100)).toBe('executed');
    expect(await warnings()).toEqual([]);
  });

  it('counts in the currency that a new version gives it', async () => {
    const standingOrderId = await desk.create(REVENUE, workspace.owner);
    expect(await spend(90)).toBe('executed');
    const inDollars = { budget: { ...BUDGET, currency: 'USD' } };
    expect((await desk.revise(standingOrderId, inDollars, workspace.owner)).status).toBe(200);
    expect(await spend(60, 'USD')).toBe('executed');
    expect(await spend(60, 'USD')).toBe('pending_approval');
    // And back: what was spent in euros still counts.
    expect((await desk.rollBack(standingOrderId, { version: 1 }, workspace.owner)).status).toBe(200);
    expect(await spend(11)).toBe('pending_approval');
    expect(await spend(10)).toBe('executed');
  });

  it('does not begin anew with a new version', async () => {
    const standingOrderId = await desk.create(REVENUE, workspace.owner);
    expect(await spend(90)).toBe('executed');
    await desk.revise(standingOrderId, { name: 'Sales' }, workspace.owner);
    expect(await spend(11)).toBe('pending_approval');
  });
});
