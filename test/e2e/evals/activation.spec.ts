import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { FILE_DOCUMENTS, MAIL_TO_ACME, NO_MAIL, OrderDesk } from '../standing-orders/order-desk.js';

const DAY_MS = 86_400_000;

let test: TestApp;
let orders: OrderDesk;
beforeAll(async () => {
  test = await startTestApp();
  orders = new OrderDesk(test);
});
afterAll(() => test.close());

const create = (order: object, by: Client = test.owner) =>
  orders.elsewhere(by).post('/standing-orders', order);
const runs = (standingOrderId: string) =>
  test.rows<{ eval_run_id: string; occasion: string; passed: boolean; score: number }>(
    'select * from eval_runs where target_entity_id = $1 order by created_at, eval_run_id',
    [standingOrderId],
  );

/** It allows only what can be undone, so nothing but its safety speaks against it: no bound on the amount, no expiry, every type. */
const UNSAFE = {
  name: 'All that can be undone',
  effect: 'allow',
  match: { reversibility: ['reversible'] },
  budget: { window: 'day', amount: 5, currency: 'EUR', onExceed: 'throttle' },
  limits: { maxAmountPerDay: 1 },
};

describe('the activation of a standing order', () => {
  it('leaves an order a draft whose eval fails, and says why', async () => {
    const { status, body } = await create(UNSAFE);
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'draft', evalRunId: expect.stringMatching(/^evl_/) });
    expect(body.heldBecause).toMatch(
      /^Its safety eval gave 0\.6\d where 0\.75 is needed: .*An owner must allow it with "acknowledge": true and "version": \d+\.$/s,
    );
    expect(await runs(body.standingOrderId)).toMatchObject([{ occasion: 'activation', passed: false }]);
    const run = (await orders.elsewhere(test.owner).get(`/evals/${body.evalRunId}`)).body;
    expect(run).toMatchObject({
      name: 'Activation of "All that can be undone"',
      targetVersion: 1,
      passed: false,
    });
    expect(await orders.actions(body.standingOrderId)).toEqual(['standing_order.created']);
  });

  it('takes an owner who acknowledges it; what was refused leaves no run', async () => {
    const { standingOrderId } = (await create({ ...UNSAFE, name: 'Held' })).body;
    const admin = await orders.member('admin');
    const path = `/standing-orders/${standingOrderId}/activate`;
    const refused = await orders.elsewhere(admin).post(path);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toMatchObject({ code: 'SIMULATION_REQUIRED' });
    expect(refused.body.error.message).toContain('Its safety eval gave');
    expect((await orders.elsewhere(admin).post(path, { acknowledge: true, version: 1 })).status).toBe(403);
    expect(await runs(standingOrderId)).toHaveLength(1);
    const active = await orders.elsewhere(test.owner).post(path, { acknowledge: true, version: 1 });
    expect(active.body).toMatchObject({ status: 'active', evalRunId: expect.stringMatching(/^evl_/) });
    const [first, second, ...more] = await runs(standingOrderId);
    expect(more).toEqual([]);
    expect(active.body.evalRunId).toBe(second!.eval_run_id);
    expect(first!.eval_run_id).not.toBe(second!.eval_run_id);
    const receipts = await orders.receipts(standingOrderId);
    expect(receipts.at(-1)).toMatchObject({
      action: 'standing_order.activated',
      details: { acknowledged: true, evalRunId: second!.eval_run_id },
    });
  });

  it('activates at once what passes, and names its run', async () => {
    const { body } = await create({ ...FILE_DOCUMENTS, limits: { maxPerDay: 20 } });
    expect(body).toMatchObject({
      status: 'active',
      heldBecause: null,
      evalRunId: expect.stringMatching(/^evl_/),
    });
    expect(await runs(body.standingOrderId)).toMatchObject([{ passed: true }]);
  });

  it('says both where an order relaxes what cannot be undone and does not pass', async () => {
    const unsafe = (await create({ ...MAIL_TO_ACME, expiresAt: Date.now() + DAY_MS })).body;
    expect(unsafe.heldBecause).toMatch(
      /^It allows work packets that cannot be undone\. Its safety eval gave/,
    );
    const safe = (
      await create({
        ...MAIL_TO_ACME,
        name: 'Safe',
        limits: { maxPerHour: 5, maxRecipients: 3 },
        expiresAt: Date.now() + DAY_MS,
      })
    ).body;
    expect(safe.heldBecause).not.toContain('safety eval');
  });

  it('never holds back an order that tightens', async () => {
    await create({ ...NO_MAIL, name: 'No mail 1' });
    const operator = await orders.member('operator');
    const { body } = await create({ ...NO_MAIL, name: 'No mail 2' }, operator);
    expect(body).toMatchObject({ status: 'active', evalRunId: expect.stringMatching(/^evl_/) });
    const [run] = await runs(body.standingOrderId);
    const { findings } = (await orders.elsewhere(test.owner).get(`/evals/${run!.eval_run_id}`)).body;
    expect(findings.map(({ ruleId }: { ruleId: string }) => ruleId)).toContain('order.duplicate');
  });

  it('looks at the order within its own team, and says nothing of other teams', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const [sales, support] = [
      await test.createTeam(workspaceId, 'Sales'),
      await test.createTeam(workspaceId, 'Support'),
    ];
    await orders.active({ ...NO_MAIL, name: 'Of Support', teamId: support }, owner);
    await orders.active({ ...NO_MAIL, name: 'Of all', teamId: null }, owner);
    const admin = await test.createMember(workspaceId, 'viewer', [sales]);
    await test.rows(`update team_members set role = 'admin' where member_id = $1`, [admin.memberId]);
    const limits = { maxPerHour: 5, maxRecipients: 3 };
    const order = { ...MAIL_TO_ACME, capos: ['capo_ops'], limits, expiresAt: Date.now() + DAY_MS };
    const { body } = await create(order, admin);
    expect(body.teamId).toBe(sales);
    const { findings } = (await orders.elsewhere(admin).get(`/evals/${body.evalRunId}`)).body;
    expect(findings).toMatchObject([
      { ruleId: 'order.overridden', message: expect.stringContaining('"Of all"') },
    ]);
    expect(JSON.stringify(findings)).not.toContain('Of Support');
  });
});
