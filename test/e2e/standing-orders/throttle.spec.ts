import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DirectiveView } from '../../../src/features/directives/directives.dto.js';
import type { RecordedInput } from '../../../src/features/standing-orders/decision-input.js';
import { type Decision, evaluateAgain } from '../../../src/features/standing-orders/evaluate.js';
import { Policies } from '../../../src/features/standing-orders/policy-decisions.repository.js';
import { eventually, startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { MAIL_TO_ACME, OrderDesk } from './order-desk.js';

const HOUR = 3_600_000;
const ONE_AN_HOUR = {
  name: 'One an hour',
  effect: 'throttle',
  match: { actionTypes: ['email.send'] },
  limits: { maxPerHour: 1 },
};

let test: TestApp;
let desk: OrderDesk;
let workspace: TestWorkspace;
let pace: string;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
beforeEach(async () => {
  workspace = await test.createWorkspace();
  await desk.active(MAIL_TO_ACME, workspace.owner);
  pace = await desk.create(ONE_AN_HOUR, workspace.owner);
});
afterEach(() => test.clock.goOn());
afterAll(() => test.close());

/** Hands in a mail that nobody wants to approve; answers the directive once it is sent, or delayed. */
async function mailed(terms: object = {}): Promise<DirectiveView> {
  const answer = await desk.elsewhere(workspace.owner).post('/directives', {
    directive: 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.',
    capo: 'capo_marketing',
    requiresApproval: false,
    ...terms,
  });
  expect(answer.status, answer.text).toBe(201);
  return eventually(
    () => read(answer.body.directiveId),
    ({ status, throttledUntil }) => hasEnded(status) || throttledUntil !== null,
  );
}

const hasEnded = (status: string) => !['queued', 'executing', 'sending'].includes(status);

async function read(directiveId: string): Promise<DirectiveView> {
  return (await desk.elsewhere(workspace.owner).get<DirectiveView>(`/directives/${directiveId}`)).body;
}

const ended = ({ directiveId }: DirectiveView) =>
  eventually(
    () => read(directiveId),
    ({ status }) => hasEnded(status),
  );

async function packetOf({ workPacketIds: [id] }: DirectiveView) {
  return (await desk.elsewhere(workspace.owner).get(`/work-packets/${id}`)).body;
}

async function workOn({ workPacketIds: [id] }: DirectiveView) {
  return test.rows<{ due_at: Date; code: string | null }>(
    `select due_at, last_error->>'code' as code from work_items where kind = 'packet.send' and id = $1`,
    [id],
  );
}

/** Lets the work on it be due now, as the database's clock will have it at that time. */
async function makeDue({ workPacketIds: [id] }: DirectiveView): Promise<void> {
  await test.rows(`update work_items set due_at = now() where kind = 'packet.send' and id = $1`, [id]);
}

async function usesOf(order: string): Promise<number[]> {
  const rows = await test.rows<{ at: Date }>(
    'select at from standing_order_uses where standing_order_id = $1 order by at',
    [order],
  );
  return rows.map(({ at }) => at.getTime());
}

async function receiptsOf(directiveId: string, action: string) {
  const rows = await test.rows<{ body: string }>(
    'select body from receipts where directive_id = $1 and action = $2 order by seq',
    [directiveId, action],
  );
  return rows.map(({ body }) => JSON.parse(body));
}

describe('a work packet beyond the pace of an order that throttles', () => {
  it('waits, asks nobody, and says until when', async () => {
    expect((await mailed()).status).toBe('executed');
    const [usedAt] = await usesOf(pace);
    const until = usedAt! + HOUR;
    const delayed = await mailed();
    expect(delayed).toMatchObject({ status: 'sending', approvalId: null, throttledUntil: until });
    expect(await packetOf(delayed)).toMatchObject({
      status: 'queued',
      throttledUntil: until,
      attempts: 0,
      decision: {
        outcome: 'throttle',
        explanation: expect.arrayContaining([
          `The standing order "One an hour" limits the pace of this work packet, but it would be work packet 2 of this hour and the limit is 1; there is room again at ${new Date(until).toISOString()}.`,
        ]),
      },
    });
    const [work, ...more] = await workOn(delayed);
    expect(more).toEqual([]);
    expect(work!.code).toBe('THROTTLED');
    expect(Math.abs(work!.due_at.getTime() - until)).toBeLessThan(60_000);
    expect(await usesOf(pace)).toEqual([usedAt]);
    const [drafted] = await receiptsOf(delayed.directiveId, 'directive.drafted');
    expect(drafted.details.decisions).toMatchObject([
      { outcome: 'throttle', workPacketId: delayed.workPacketIds[0] },
    ]);
    const list = await desk.elsewhere(workspace.owner).get('/work-packets?status=queued');
    expect(list.body.items).toMatchObject([{ throttledUntil: until }]);
  });

  it('is decided again at that time, goes, and counts from then on', async () => {
    await mailed();
    const delayed = await mailed();
    test.clock.advance(HOUR);
    await makeDue(delayed);
    expect(await ended(delayed)).toMatchObject({ status: 'executed', throttledUntil: null });
    expect(await packetOf(delayed)).toMatchObject({ status: 'executed', throttledUntil: null });
    const [first, second, ...more] = await usesOf(pace);
    expect(more).toEqual([]);
    expect(second! - first!).toBeGreaterThanOrEqual(HOUR);
  });

  it('waits once more where there is no room at that time, and says so in a receipt', async () => {
    await mailed();
    const delayed = await mailed();
    const [usedAt] = await usesOf(pace);
    await test.rows('update standing_order_uses set at = $2 where standing_order_id = $1', [
      pace,
      new Date(usedAt! + 10 * 60_000),
    ]);
    const until = usedAt! + 10 * 60_000 + HOUR;
    await makeDue(delayed);
    const again = await eventually(
      () => read(delayed.directiveId),
      ({ throttledUntil }) => throttledUntil === until,
    );
    expect(again.status).toBe('sending');
    const [receipt] = await receiptsOf(delayed.directiveId, 'packet.throttled');
    expect(receipt).toMatchObject({
      entity: { type: 'work_packet', id: delayed.workPacketIds[0] },
      outcome: 'success',
      details: { throttledUntil: until, decisions: [{ outcome: 'throttle' }] },
    });
    const decisions = await test.rows<{ decision: Decision; input: RecordedInput }>(
      `select decision, input from policy_decisions where work_packet_id = $1 and outcome = 'throttle'`,
      [delayed.workPacketIds[0]],
    );
    expect(decisions).toHaveLength(2);
    // Each comes out the same again from what is recorded, room included.
    for (const { decision, input } of decisions) {
      const scope = { workspaceId: workspace.workspaceId, teamIds: 'all' as const };
      const orders = await test.app.get(Policies).ordersOf(scope, input.policy);
      expect(evaluateAgain(input, orders)).toEqual(decision);
    }
  });

  it('waits behind those that wait already, each for the room after the one before', async () => {
    await mailed();
    const [usedAt] = await usesOf(pace);
    const waiting = [await mailed(), await mailed(), await mailed()];
    expect(waiting.map(({ throttledUntil }) => (throttledUntil! - usedAt!) / HOUR)).toEqual([1, 2, 3]);
    // Decided again before its time, it stays where it was.
    await makeDue(waiting[1]!);
    await eventually(
      () => receiptsOf(waiting[1]!.directiveId, 'packet.throttled'),
      (receipts) => receipts.length === 1,
    );
    expect((await read(waiting[1]!.directiveId)).throttledUntil).toBe(usedAt! + 2 * HOUR);
  });

  it('ends at the deadline of its directive', async () => {
    await mailed();
    const deadline = Date.now() + 30 * 60_000;
    const delayed = await mailed({ deadline: new Date(deadline).toISOString() });
    expect(delayed.throttledUntil).toBeGreaterThan(deadline);
    const [work] = await workOn(delayed);
    expect(Math.abs(work!.due_at.getTime() - deadline)).toBeLessThan(60_000);
    test.clock.advance(31 * 60_000);
    await makeDue(delayed);
    expect((await ended(delayed)).status).toBe('expired');
    expect(await packetOf(delayed)).toMatchObject({
      status: 'cancelled',
      throttledUntil: null,
      result: { error: { code: 'DEADLINE_PASSED' } },
    });
  });

  it.each([
    ['is paused', () => desk.elsewhere(workspace.owner).post(`/standing-orders/${pace}/pause`)],
    ['is archived', () => desk.elsewhere(workspace.owner).delete(`/standing-orders/${pace}`)],
    [
      'is only tried out',
      () => desk.elsewhere(workspace.owner).post(`/standing-orders/${pace}/activate`, { shadow: true }),
    ],
    [
      'was not in force at the checkpoint that is restored',
      async () => {
        const client = desk.elsewhere(workspace.owner);
        const [{ checkpointId }] = (await client.get('/guardian/checkpoint')).body.items;
        return client.post('/guardian/revert', { mode: 'restore', checkpointId });
      },
    ],
    [
      'lets more through',
      () => desk.revise(pace, { limits: { maxPerHour: 2 }, acknowledge: true, version: 1 }, workspace.owner),
    ],
  ])('goes at once when the order %s', async (_, change) => {
    await mailed();
    const delayed = await mailed();
    const answer = await change();
    expect(answer.status, answer.text).toBe(200);
    expect((await ended(delayed)).status).toBe('executed');
  });

  it('can be cancelled with its directive', async () => {
    await mailed();
    const delayed = await mailed();
    const path = `/directives/${delayed.directiveId}/cancel`;
    const answer = await desk.elsewhere(workspace.owner).post(path);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ status: 'cancelled', throttledUntil: null });
    expect(await packetOf(delayed)).toMatchObject({ status: 'cancelled', throttledUntil: null });
    expect(await workOn(delayed)).toEqual([]);
  });

  it('is halted by a kill, and decided again with the revert', async () => {
    await mailed();
    const delayed = await mailed();
    const { owner } = workspace;
    await owner.post('/guardian/kill-switch');
    expect((await packetOf(delayed)).status).toBe('halted');
    const reverted = await owner.post('/guardian/revert', {});
    expect(reverted.status, reverted.text).toBe(200);
    await eventually(
      () => receiptsOf(delayed.directiveId, 'packet.throttled'),
      (receipts) => receipts.length === 1,
    );
    expect(await read(delayed.directiveId)).toMatchObject({
      status: 'sending',
      throttledUntil: delayed.throttledUntil,
    });
  });

  it('asks a person where another order wants that as well', async () => {
    await mailed();
    await desk.create(
      { ...ONE_AN_HOUR, name: 'Ask', effect: 'require_approval', limits: null },
      workspace.owner,
    );
    const asked = await mailed();
    expect(asked).toMatchObject({ status: 'pending_approval', throttledUntil: null });
  });

  it('goes when a person approves it, and no longer waits', async () => {
    await mailed();
    const delayed = await mailed();
    const ask = { ...ONE_AN_HOUR, name: 'Ask', effect: 'require_approval', limits: null };
    await desk.create(ask, workspace.owner);
    await makeDue(delayed);
    const { approvalId } = await ended(delayed);
    expect((await packetOf(delayed)).throttledUntil).toBeNull();
    await desk.elsewhere(workspace.owner).post('/approvals', { approvalId, decision: 'approve' });
    expect((await ended(delayed)).status).toBe('executed');
  });
});

describe('a budget that lets wait', () => {
  it('delays to the next day of the zone of the workspace', async () => {
    await test.rows(`update workspaces set timezone = 'Asia/Tokyo' where workspace_id = $1`, [
      workspace.workspaceId,
    ]);
    const budget = { window: 'day', amount: 100, currency: 'EUR', onExceed: 'throttle' };
    const match = { actionTypes: ['revenue.record'] };
    await desk.create({ name: 'A hundred a day', effect: 'allow', match, budget }, workspace.owner);
    const recorded = () => mailed({ directive: 'Record 60 EUR from Acme.', capo: 'capo_revenue' });
    expect((await recorded()).status).toBe('executed');
    const delayed = await recorded();
    expect(delayed.status).toBe('sending');
    const tokyo = 9 * HOUR;
    expect((delayed.throttledUntil! + tokyo) % (24 * HOUR)).toBe(0);
    expect(delayed.throttledUntil! - Date.now()).toBeLessThanOrEqual(24 * HOUR);
  });
});
