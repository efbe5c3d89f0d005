import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { Desk, DOCUMENT } from '../directives/desk.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const ALLOW = { name: 'Memos', effect: 'allow', match: { actionTypes: ['document.file'] } };
const DENY = { name: 'No signals', effect: 'deny', match: { actionTypes: ['signal.raise'] } };
const MAIL = { name: 'Mail', effect: 'allow', match: { actionTypes: ['email.send'] } };

async function newDesk(): Promise<{ desk: Desk; workspaceId: string; owner: TestMember }> {
  const { workspaceId } = await test.createWorkspace();
  const owner = await test.createMember(workspaceId, 'owner');
  return { desk: new Desk(test, owner.token), workspaceId, owner };
}

const add = async (desk: Desk, order: object) =>
  (await desk.client.post('/standing-orders', order)).body.standingOrderId as string;
const order = async (desk: Desk, id: string) => (await desk.client.get(`/standing-orders/${id}`)).body;
const take = async (desk: Desk) =>
  (await desk.client.post('/guardian/checkpoint')).body.checkpointId as string;
const restore = (desk: Desk, body: object = {}) =>
  desk.client.post('/guardian/revert', { mode: 'restore', ...body });
const act = (desk: Desk, id: string, verb: string) => desk.client.post(`/standing-orders/${id}/${verb}`);

/** A second version of an order, as a change of its limits leaves it. */
async function change(workspaceId: string, standingOrderId: string): Promise<void> {
  const hash = sha256(canonicalJson({ standingOrderId }));
  await test.rows(
    `with changed as (
       update standing_orders set version = 2, limits = '{"maxPerDay": 1}', hash = $3, name = 'Memos, one a day'
       where workspace_id = $1 and standing_order_id = $2 returning *
     )
     insert into standing_order_versions (workspace_id, standing_order_id, version, team_id, name, text, capos, effect, match,
       "when", limits, budget, approval, expires_at, hash, created_by, created_at)
     select workspace_id, standing_order_id, version, team_id, name, text, capos, effect, match, "when", limits, budget,
       approval, expires_at, hash, created_by, now() from changed`,
    [workspaceId, standingOrderId, hash],
  );
}

const receiptsOf = async (workspaceId: string, action: string) =>
  (
    await test.rows<{ body: string }>(
      'select body from receipts where workspace_id = $1 and action = $2 order by seq',
      [workspaceId, action],
    )
  ).map(({ body }) => JSON.parse(body));

describe('POST /guardian/revert with restore', () => {
  it('puts changed, paused and archived orders into force as they were, and pauses those that came since', async () => {
    const { desk, workspaceId } = await newDesk();
    const [changed, paused, archived, kept] = [
      await add(desk, ALLOW),
      await add(desk, DENY),
      await add(desk, { ...DENY, name: 'Archived' }),
      await add(desk, { ...DENY, name: 'Kept' }),
    ];
    const idle = await add(desk, { ...DENY, name: 'Idle' });
    await act(desk, idle, 'pause');
    const was = await order(desk, changed);
    const checkpointId = await take(desk);
    await change(workspaceId, changed);
    await act(desk, paused, 'pause');
    await desk.client.delete(`/standing-orders/${archived}`);
    const since = await add(desk, { ...ALLOW, name: 'Since' });
    await desk.kill();

    const { status, body, text } = await restore(desk, { reason: 'As it was.', checkpointId });
    expect(status, text).toBe(200);
    expect(body).toMatchObject({ mode: 'restore', status: 'done', checkpointId, plan: [], planTotal: 0 });
    const outcomes = Object.fromEntries(
      body.restored.orders.map((one: { standingOrderId: string }) => [one.standingOrderId, one]),
    );
    expect(Object.keys(outcomes).toSorted()).toEqual([changed, paused, archived, since].toSorted());
    expect(outcomes[changed]).toMatchObject({
      outcome: 'restored',
      from: { version: 2, status: 'active' },
      to: { version: 3, status: 'active' },
    });
    expect(outcomes[since]).toMatchObject({ outcome: 'paused', to: { version: 1, status: 'paused' } });
    expect(await order(desk, changed)).toMatchObject({
      status: 'active',
      version: 3,
      hash: was.hash,
      name: 'Memos',
      limits: null,
    });
    for (const id of [paused, archived, kept]) {
      expect(await order(desk, id)).toMatchObject({ status: 'active', version: 1 });
    }
    expect(await order(desk, since)).toMatchObject({ status: 'paused' });
    expect(await order(desk, idle)).toMatchObject({ status: 'paused' });
    expect((await desk.client.get('/guardian')).body).toMatchObject({ mode: 'guardrailed', killedAt: null });

    // The chain names each of them, the new version with its rule.
    const restored = await receiptsOf(workspaceId, 'standing_order.restored');
    expect(restored.map(({ entity }) => entity.id).toSorted()).toEqual(
      [changed, paused, archived].toSorted(),
    );
    expect(restored.find(({ entity }) => entity.id === changed).details).toMatchObject({
      checkpointId,
      version: 3,
      hash: was.hash,
      rule: { effect: 'allow', limits: null },
    });
    const [reverted] = await receiptsOf(workspaceId, 'guardian.reverted');
    expect(reverted).toMatchObject({
      receiptId: body.receiptId,
      details: {
        mode: 'restore',
        guardianMode: 'guardrailed',
        checkpointId,
        reason: 'As it was.',
        orders: 4,
      },
    });
    const versions = await test.rows(
      'select version, hash from standing_order_versions where standing_order_id = $1 order by version',
      [changed],
    );
    expect(versions).toMatchObject([
      { version: 1, hash: was.hash },
      { version: 2 },
      { version: 3, hash: was.hash },
    ]);
  });

  it('lets decisions go by the orders that are in force again', async () => {
    const { desk } = await newDesk();
    const id = await add(desk, ALLOW);
    await take(desk);
    await act(desk, id, 'pause');
    const body = { directive: DOCUMENT, capo: 'capo_ops', requiresApproval: false };
    const asked = (await desk.client.post('/directives', body)).body.directiveId;
    await desk.until(asked, 'pending_approval');
    await restore(desk);
    const allowed = (await desk.client.post('/directives', body)).body.directiveId;
    expect((await desk.until(allowed, 'executed')).status).toBe('executed');
  });

  it('puts every setting back, and the mode', async () => {
    const { desk, workspaceId } = await newDesk();
    const settings = {
      timezone: 'Europe/Vienna',
      locale: 'de-AT',
      currency: 'EUR',
      quietHours: { from: '22:00', to: '07:00' },
      sender: { name: 'Mira', signature: null, replyTo: 'care@northwind.example' },
      modelBudget: { amount: 5, currency: 'USD', tokens: null },
      retention: { deliveries: 60 },
      notifications: { approvals: 'digest' },
    };
    await desk.client.put('/settings', settings);
    await desk.mode('supervised');
    const before = (await desk.client.get('/settings')).body;
    await take(desk);
    await desk.client.put('/settings', {
      timezone: 'Asia/Tokyo',
      locale: 'en',
      currency: 'USD',
      presence: 'away',
      quietHours: null,
      sender: { name: null, signature: 'Yours', replyTo: null },
      modelBudget: null,
      retention: { deliveries: null, signals: 400 },
      notifications: { approvals: 'none', reports: 'none' },
    });
    await desk.mode('autonomous');

    const { status, body, text } = await restore(desk);
    expect(status, text).toBe(200);
    expect((await desk.client.get('/settings')).body).toEqual(before);
    expect((await desk.client.get('/guardian')).body.mode).toBe('supervised');
    expect(body.restored).toMatchObject({ mode: 'supervised', orders: [], settingsKept: [] });
    expect(body.restored.settings.toSorted()).toEqual(
      [
        'currency',
        'locale',
        'modelBudget',
        'notifications',
        'presence',
        'quietHours',
        'retention',
        'sender',
        'timezone',
      ].toSorted(),
    );
    expect(await receiptsOf(workspaceId, 'settings.changed')).toHaveLength(3);
    expect(await receiptsOf(workspaceId, 'guardian.restored')).toHaveLength(1);
    expect(await receiptsOf(workspaceId, 'guardian.reverted')).toHaveLength(0);
  });

  it('can itself be taken back: what it replaces is kept in a checkpoint', async () => {
    const { desk } = await newDesk();
    await take(desk);
    const since = await add(desk, DENY);
    await restore(desk, {
      checkpointId: (await desk.client.get('/guardian/checkpoint?limit=2')).body.items[1].checkpointId,
    });
    expect(await order(desk, since)).toMatchObject({ status: 'paused' });
    const { lastCheckpointId } = (await desk.client.get('/guardian')).body;
    const kept = (await desk.client.get(`/guardian/checkpoint/${lastCheckpointId}`)).body;
    expect(kept).toMatchObject({ auto: true, label: 'Before a checkpoint was restored' });
    await restore(desk, { checkpointId: lastCheckpointId });
    expect(await order(desk, since)).toMatchObject({ status: 'active' });
  });

  it('leaves an order with the team that it was moved to', async () => {
    const { desk, workspaceId } = await newDesk();
    const teamId = await test.createTeam(workspaceId, 'Ends');
    const id = (await desk.client.post('/standing-orders', { ...DENY, teamId })).body.standingOrderId;
    const checkpointId = await take(desk);
    await desk.client.post(`/teams/${teamId}/archive`, { moveTo: null });
    const { body } = await restore(desk, { checkpointId });
    expect(body.restored.orders).toMatchObject([
      { standingOrderId: id, outcome: 'skipped', reason: 'It belongs to another team by now.' },
    ]);
    expect(await order(desk, id)).toMatchObject({ status: 'active', teamId: null });
  });

  it('with dryRun shows the same and changes nothing', async () => {
    const { desk } = await newDesk();
    const id = await add(desk, DENY);
    const checkpointId = await take(desk);
    await act(desk, id, 'pause');
    await desk.client.put('/settings', { presence: 'away' });
    const { seq } = (await desk.client.get('/audit-feed/head')).body;
    const { body } = await restore(desk, { checkpointId, dryRun: true });
    expect(body).toMatchObject({
      revertId: null,
      receiptId: null,
      restored: {
        settings: ['presence'],
        orders: [
          { standingOrderId: id, outcome: 'restored', from: { status: 'paused' }, to: { status: 'active' } },
        ],
      },
    });
    expect((await desk.client.get('/audit-feed/head')).body.seq).toBe(seq);
    expect(await order(desk, id)).toMatchObject({ status: 'paused' });
    const done = await restore(desk, { checkpointId });
    expect(done.body.restored).toEqual(body.restored);
  });

  it('leaves to an owner what only an owner may loosen', async () => {
    const { desk, workspaceId } = await newDesk();
    const admin = new Desk(test, (await test.createMember(workspaceId, 'admin')).token);
    const id = await add(desk, MAIL);
    await desk.client.post(`/standing-orders/${id}/activate`, { acknowledge: true, version: 1 });
    await desk.client.put('/settings', { secondFactor: 'optional' });
    const checkpointId = await take(desk);
    await act(desk, id, 'pause');
    await desk.client.put('/settings', { secondFactor: 'required', presence: 'away' });

    const byAdmin = await restore(admin, { checkpointId });
    expect(byAdmin.status, byAdmin.text).toBe(200);
    expect(byAdmin.body.restored).toMatchObject({
      settings: ['presence'],
      settingsKept: ['secondFactor'],
      orders: [
        { standingOrderId: id, outcome: 'skipped', to: null, reason: expect.stringContaining('owner') },
      ],
    });
    expect(await order(desk, id)).toMatchObject({ status: 'paused' });
    const byOwner = await restore(desk, { checkpointId });
    expect(byOwner.body.restored).toMatchObject({ settings: ['secondFactor'], settingsKept: [] });
    expect(await order(desk, id)).toMatchObject({ status: 'active' });
  });

  it('leaves an order that has expired meanwhile', async () => {
    const { desk } = await newDesk();
    const id = await add(desk, { ...DENY, expiresAt: test.clock.now() + 3_600_000 });
    const checkpointId = await take(desk);
    await act(desk, id, 'pause');
    test.clock.advance(3_700_000);
    try {
      const { body } = await restore(desk, { checkpointId });
      expect(body.restored.orders).toMatchObject([{ standingOrderId: id, outcome: 'skipped' }]);
      expect(await order(desk, id)).toMatchObject({ status: 'paused' });
    } finally {
      test.clock.goOn();
    }
  });

  it('lifts a kill, and the halted work goes on under what was put back', async () => {
    const { desk } = await newDesk();
    await add(desk, ALLOW);
    const checkpointId = await take(desk);
    await desk.kill();
    const body = { directive: DOCUMENT, capo: 'capo_ops', requiresApproval: false };
    const { directiveId } = (await desk.client.post('/directives', body)).body;
    await restore(desk, { checkpointId });
    expect((await desk.until(directiveId, 'executed')).status).toBe('executed');
  });
});

describe('POST /guardian/revert with resume and dryRun', () => {
  it('shows what would go on, and leaves the kill engaged', async () => {
    const { desk } = await newDesk();
    await desk.kill();
    const { status, body } = await desk.client.post('/guardian/revert', { dryRun: true });
    expect([status, body.plan, body.planTotal, body.revertId]).toEqual([200, [], 0, null]);
    expect((await desk.client.get('/guardian')).body.mode).toBe('killed');
  });
});
