import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { expectUnbroken } from '../directives/desk.js';
import { OrderDesk } from '../standing-orders/order-desk.js';
import { EscalationDesk } from './escalation-desk.js';

const RECORD = {
  name: 'Revenue up to 500',
  effect: 'allow',
  match: { actionTypes: ['revenue.record'] },
  budget: { window: 'day', amount: 500, currency: 'EUR', onExceed: 'deny' },
};
const NO_REVENUE = { name: 'No revenue', effect: 'deny', match: { actionTypes: ['revenue.record'] } };

/** What a person is asked when a budget has stopped something. */
let test: TestApp;
let desk: EscalationDesk;
let orders: OrderDesk;
beforeAll(async () => {
  test = await startTestApp();
  orders = new OrderDesk(test);
});
afterAll(() => test.close());
beforeEach(async () => {
  desk = await EscalationDesk.ofOwn(test);
});

const record = async (amount: number): Promise<string> => {
  const body = {
    directive: `Record ${amount} EUR from Acme`,
    capo: 'capo_revenue',
    requiresApproval: false,
  };
  const answer = await desk.client.post('/directives', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.directiveId;
};

/** A directive that a budget has stopped, with its escalation. */
async function stopped() {
  const orderId = await orders.active(RECORD, desk.client);
  await desk.until(await record(400), 'executed');
  const directiveId = await record(200);
  await desk.until(directiveId, 'failed');
  return { orderId, directiveId, escalation: await desk.opened(directiveId, 'budget_exceeded') };
}

const recorded = async () =>
  (
    await test.rows<{ amount: number }>(
      `select amount::float8 as amount from revenue_events where workspace_id = $1 order by event_id`,
      [desk.workspaceId],
    )
  ).map(({ amount }) => amount);

describe('a directive that a budget has stopped', () => {
  it('is escalated with the reason', async () => {
    const { directiveId, escalation } = await stopped();
    expect(await desk.escalation(escalation.id)).toMatchObject({
      kind: 'budget_exceeded',
      entity: { type: 'directive', id: directiveId },
      directiveId,
      reason: expect.stringMatching(/budget of 500 EUR for the day would be exceeded at 600/),
      options: ['approve_once', 'retry', 'dismiss'],
    });
    expect(await recorded()).toEqual([400]);
  });

  it('is let through once by a second decision: the approval that approve_once asks for', async () => {
    const { directiveId, escalation } = await stopped();
    const { outcome } = await desk.decided(escalation.id, 'approve_once');
    const [, approvalId] = /: (apr_\w+)\.$/.exec(outcome)!;
    const asked = await desk.directive(directiveId);
    expectUnbroken(asked);
    expect(asked).toMatchObject({ status: 'pending_approval', approvalId, error: null });
    expect(await recorded()).toEqual([400]);
    const approval = await desk.ready(approvalId!);
    expect(approval).toMatchObject({
      kind: 'budget_override',
      packets: [{ action: { type: 'revenue.record', params: { amount: 200 } } }],
      policy: { outcome: 'deny', explanation: [expect.stringContaining('would be exceeded')] },
    });
    expect((await desk.approve(approvalId!)).status).toBe(200);
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect(await recorded()).toEqual([400, 200]);
    // Once: the next one stops again.
    const next = await record(150);
    await desk.until(next, 'failed');
    await desk.opened(next, 'budget_exceeded');
    expect(await recorded()).toEqual([400, 200]);
  });

  it('ends when the approval is rejected', async () => {
    const { directiveId, escalation } = await stopped();
    await desk.decided(escalation.id, 'approve_once');
    const { approvalId } = await desk.directive(directiveId);
    expect((await desk.reject(approvalId)).status).toBe(200);
    expectUnbroken(await desk.until(directiveId, 'rejected'));
    expect(await recorded()).toEqual([400]);
  });

  it('is not let through by approve_once when an order denies it by the time', async () => {
    const { directiveId, escalation } = await stopped();
    await orders.active(NO_REVENUE, desk.client);
    await desk.decided(escalation.id, 'approve_once');
    const { approvalId } = await desk.directive(directiveId);
    await desk.approve(approvalId);
    await desk.until(directiveId, 'failed');
    expect(await recorded()).toEqual([400]);
  });

  it('under four eyes is not approved by whoever asked to let it through', async () => {
    await orders.active({ ...RECORD, approval: { selfApproval: false } }, desk.client);
    const operator = await desk.member('operator');
    const directiveId = await record(600);
    await desk.until(directiveId, 'failed');
    const { id } = await desk.opened(directiveId, 'budget_exceeded');
    await operator.decided(id, 'approve_once');
    const { approvalId } = await desk.directive(directiveId);
    expect((await operator.approve(approvalId)).status).toBe(403);
    expect((await desk.approve(approvalId)).status).toBe(403);
    const other = await desk.member('operator');
    expect((await other.approve(approvalId)).status).toBe(200);
    await desk.until(directiveId, 'executed');
  });

  it('is drafted again by retry, once there is room', async () => {
    const { orderId, directiveId, escalation } = await stopped();
    expect((await desk.client.delete(`/standing-orders/${orderId}`)).status).toBe(200);
    await orders.active({ ...RECORD, name: 'More', budget: { ...RECORD.budget, amount: 5000 } }, desk.client);
    await desk.decided(escalation.id, 'retry');
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect(await recorded()).toEqual([400, 200]);
    expect(await desk.actionsAbout(escalation.id)).toEqual(['escalation.opened', 'escalation.decided']);
  });

  it('is resolved by itself when it is retried at its own route', async () => {
    const { directiveId, escalation } = await stopped();
    expect((await desk.client.post(`/directives/${directiveId}/retry`)).status).toBe(200);
    expect(await desk.escalation(escalation.id)).toMatchObject({
      status: 'resolved',
      decidedBy: { type: 'system' },
    });
    // The budget is as it was, so it stops again, and a person is asked again.
    const { id } = await desk.opened(directiveId, 'budget_exceeded');
    expect(id).not.toBe(escalation.id);
  });

  it('is let through once, too, when the budget stops it only as it is about to be sent', async () => {
    await test.rows(`create or replace function wait_for_test() returns trigger language plpgsql as $$
      begin new.due_at := 'infinity'; return new; end $$`);
    const orderId = await orders.active(RECORD, desk.client);
    await test.rows(`create trigger wait_for_test before insert on work_items for each row
      when (new.kind = 'packet.send') execute function wait_for_test()`);
    const directiveId = await record(300);
    await desk.until(directiveId, 'sending');
    await test.rows('drop trigger wait_for_test on work_items');
    await desk.client.delete(`/standing-orders/${orderId}`);
    await orders.active({ ...RECORD, budget: { ...RECORD.budget, amount: 100 } }, desk.client);
    await test.rows(`update work_items set due_at = now() where workspace_id = $1`, [desk.workspaceId]);
    await desk.until(directiveId, 'failed');
    const { id } = await desk.opened(directiveId, 'budget_exceeded');
    await desk.decided(id, 'approve_once');
    const { approvalId } = await desk.directive(directiveId);
    expect((await desk.approve(approvalId)).status).toBe(200);
    expectUnbroken(await desk.until(directiveId, 'executed'));
    expect(await recorded()).toEqual([300]);
  });

  it('stays failed when it is dismissed', async () => {
    const { directiveId, escalation } = await stopped();
    await desk.decided(escalation.id, 'dismiss');
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'failed' });
  });
});

describe('a directive that an order denies', () => {
  it('is no question of a budget', async () => {
    await orders.active(RECORD, desk.client);
    await orders.active(NO_REVENUE, desk.client);
    const directiveId = await record(600);
    await desk.until(directiveId, 'failed');
    expect(await desk.about(directiveId)).toEqual([]);
  });
});

describe('a budget that stops everything', () => {
  it('is told for twenty directives, and counted beyond', async () => {
    const orderId = await orders.active(RECORD, desk.client);
    const ids: string[] = [];
    for (let n = 0; n < 23; n++) ids.push(await record(600 + n));
    await eventually(
      () => test.rows(`select 1 from directives where directive_id = any($1) and status = 'failed'`, [ids]),
      (rows) => rows.length === 23,
      30,
    );
    const { items, total } = await desk.list('?kind=budget_exceeded&limit=100');
    const together = items.filter((one: any) => one.entity.type === 'standing_order');
    expect(together).toMatchObject([{ entity: { id: orderId }, options: ['dismiss'] }]);
    expect(total - 1 + together[0].count).toBe(23);
    expect(total).toBeLessThanOrEqual(25);
  }, 60_000);
});
