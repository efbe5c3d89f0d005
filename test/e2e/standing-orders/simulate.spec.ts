import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ActivationChecks } from '../../../src/features/standing-orders/activation-examination.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { anOrder } from '../../standing-orders/factories.js';
import { Desk } from '../directives/desk.js';
import { RecordedHistory } from './history.js';
import { FILE_DOCUMENTS, MAIL_TO_ACME, NO_MAIL, OrderDesk } from './order-desk.js';

const TO_JANE = { params: { to: ['jane@acme.example'] }, target: 'jane@acme.example' };
const TO_JOHN = { params: { to: ['john@other.example'] }, target: 'john@other.example' };

let test: TestApp;
let desk: OrderDesk;
let workspaceId: string;
let owner: Client;
let history: RecordedHistory;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
afterAll(() => test.close());
beforeEach(async () => {
  ({ workspaceId, owner } = await test.createWorkspace());
  history = new RecordedHistory(test, workspaceId);
});

const simulate = (standingOrderId: string, by: Client = owner) =>
  desk.elsewhere(by).post(`/standing-orders/${standingOrderId}/simulate`);
const simulations = (standingOrderId: string) =>
  test.rows('select * from simulations where standing_order_id = $1 order by simulation_id', [
    standingOrderId,
  ]);

describe('POST /standing-orders/:id/simulate 200', () => {
  it('says what the order would have done to real work packets', async () => {
    const work = new Desk(test, owner.token);
    const draft = async (to: string, requiresApproval: boolean) => {
      const directive = `Email ${to}, subject "Delivery": The delivery arrives on Friday.`;
      const { body } = await work.client.post('/directives', {
        directive,
        capo: 'capo_ops',
        requiresApproval,
      });
      return work.until(body.directiveId, 'pending_approval');
    };
    const allowed = await draft('jane@acme.example', false);
    await draft('john@other.example', false);
    const asking = await draft('joe@acme.example', true);
    await work.ready(asking.approvalId);
    const standingOrderId = await desk.create(MAIL_TO_ACME, owner);
    const answer = await simulate(standingOrderId);
    expect(answer.status, answer.text).toBe(200);
    const [packet] = await work.packets(allowed.directiveId);
    expect(answer.body).toEqual({
      simulationId: expect.stringMatching(/^sim_/),
      version: 1,
      considered: 3,
      relaxed: 1,
      why: null,
      stillAsks: 1,
      escalated: 0,
      unchanged: 1,
      relaxedIrreversible: 1,
      changes: [
        {
          workPacketId: packet.workPacketId,
          title: packet.title,
          recipient: 'jane@acme.example',
          from: 'require_approval',
          to: 'allow',
          why: 'The standing order "Mail to Acme" allows this work packet.',
        },
      ],
      changesOmitted: 0,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      computedAt: expect.any(Number),
    });
    const { changes: _changes, changesOmitted: _omitted, why: _why, ...summary } = answer.body;
    const { body: order } = await desk.elsewhere(owner).get(`/standing-orders/${standingOrderId}`);
    expect(order).toMatchObject({ status: 'draft', simulation: summary });
    // Looking changes nothing but what is known of the order.
    expect(await desk.actions(standingOrderId)).toEqual(['standing_order.created']);
  });

  it('says what the order would have done to what agents asked for', async () => {
    const paramsSchema = { type: 'object', properties: { to: {}, amount: {}, currency: {} } };
    const tool = { name: 'mailer.send', paramsSchema, recipientsPath: 'to', titleTemplate: 'Mail {{to}}' };
    const made = await desk.elsewhere(owner).post('/tools', tool);
    expect(made.status, made.text).toBe(201);
    const token = { name: 'Mailer', agent: { name: 'mail-bot' }, tools: ['mailer.*'] };
    const bot = new Client(test.url, (await desk.elsewhere(owner).post('/tokens', token)).body.token);
    const ask = async (to: string[], name = 'mailer.send') =>
      (await bot.post('/action-requests', { tool: name, params: { to } })).body.actionRequestId;
    const requests = [await ask(['jane@acme.example']), await ask(['john@acme.example'])];
    await ask(['joe@other.example']);
    await ask(['jane@acme.example'], 'mailer.other');
    await ask(['jane@acme.example']);
    await desk
      .elsewhere(owner)
      .post('/action-requests', { tool: 'mailer.send', params: { to: ['x@acme.example'] } });
    const standingOrderId = await desk.create(
      {
        name: 'Mail of the bot',
        effect: 'allow',
        match: {
          agents: ['mail-bot'],
          actionTypes: ['mailer.*'],
          fields: { 'params.to': { $domainIn: ['acme.example'] } },
        },
        // Its own limit counts what it would have let through.
        limits: { maxPerDay: 2 },
      },
      owner,
    );
    const { body } = await simulate(standingOrderId);
    expect(body).toMatchObject({
      considered: 6,
      relaxed: 2,
      stillAsks: 0,
      unchanged: 4,
      relaxedIrreversible: 2,
    });
    expect(body.changes).toEqual(
      ['john@acme.example', 'jane@acme.example'].map((to, index) => ({
        workPacketId: requests[1 - index],
        title: `Mail ${to}`,
        tool: 'mailer.send',
        agent: 'mail-bot',
        recipient: `["${to}"]`,
        from: 'require_approval',
        to: 'allow',
        why: 'The standing order "Mail of the bot" allows this action.',
      })),
    );
  });

  it('counts each work packet once, with its newest decision', async () => {
    const workPacketId = newId('pkt');
    await history.decided({ packet: TO_JOHN }, workPacketId);
    await history.decided({ packet: TO_JANE }, workPacketId);
    const standingOrderId = await desk.create(MAIL_TO_ACME, owner);
    const { body } = await simulate(standingOrderId);
    expect(body).toMatchObject({ considered: 1, relaxed: 1, changes: [{ workPacketId }] });
  });

  it('goes by the orders that were in force then, without a former version of the order', async () => {
    const other = anOrder({ standingOrderId: newId('so'), effect: 'require_approval', name: 'Ask' });
    await history.decided({ packet: TO_JANE, orders: [other] });
    await history.decided({ packet: TO_JANE });
    const standingOrderId = await desk.create(MAIL_TO_ACME, owner);
    const former = anOrder({
      standingOrderId: standingOrderId as `so_${string}`,
      effect: 'deny',
      version: 7,
    });
    await history.decided({ packet: TO_JANE, orders: [former] });
    const { body } = await simulate(standingOrderId);
    expect(body).toMatchObject({ considered: 3, relaxed: 2, unchanged: 1 });
    expect(body.changes.map(({ from, to }: { from: string; to: string }) => `${from} ${to}`)).toEqual([
      'deny allow',
      'require_approval allow',
    ]);
  });

  it('counts the budget of the order by the days of the workspace', async () => {
    await test.rows(`update workspaces set timezone = 'Asia/Tokyo' where workspace_id = $1`, [workspaceId]);
    const rule = { effect: 'allow', match: { actionTypes: ['revenue.record'] } };
    const packet = {
      actionType: 'revenue.record',
      reversibility: 'reversible',
      amount: 60,
      currency: 'EUR',
    } as const;
    for (const at of [
      '2026-07-01T23:00:00+09:00',
      '2026-07-01T23:59:00+09:00',
      '2026-07-02T00:00:00+09:00',
    ]) {
      await history.decided({ at: Date.parse(at), packet });
    }
    const budget = { window: 'day', amount: 100, currency: 'EUR' };
    const standingOrderId = await desk.create({ name: 'Small sums', ...rule, budget }, owner);
    expect((await simulate(standingOrderId)).body).toMatchObject({ considered: 3, relaxed: 2, unchanged: 1 });
  });

  it('answers the same simulation until something else was decided', async () => {
    await history.decided({ packet: TO_JANE });
    const standingOrderId = await desk.create(MAIL_TO_ACME, owner);
    const first = await simulate(standingOrderId);
    const again = await simulate(standingOrderId);
    expect(again.body).toEqual(first.body);
    expect(await simulations(standingOrderId)).toHaveLength(1);
    await history.decided({ packet: TO_JOHN });
    const later = await simulate(standingOrderId);
    expect(later.body).toMatchObject({ considered: 2, relaxed: 1 });
    expect(later.body.simulationId).not.toBe(first.body.simulationId);
    expect(later.body.hash).not.toBe(first.body.hash);
    expect(await simulations(standingOrderId)).toHaveLength(2);
  });

  it('has one hash for equal facts, and is computed once however many ask at the same time', async () => {
    await history.decided({ packet: TO_JANE });
    const [one, other] = [await desk.create(MAIL_TO_ACME, owner), await desk.create(MAIL_TO_ACME, owner)];
    await history.decided({ packet: TO_JOHN });
    const answers = await Promise.all([one, one, one, one].map((id) => simulate(id)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    // That of its creation, and this one.
    expect(await simulations(one)).toHaveLength(2);
    expect((await simulate(other)).body.hash).toBe(answers[0]!.body.hash);
  });

  it('keeps the ten newest of an order', async () => {
    const standingOrderId = await desk.create(MAIL_TO_ACME, owner);
    for (let n = 0; n < 12; n++) {
      await history.decided({ packet: TO_JANE });
      await simulate(standingOrderId);
    }
    const kept = await simulations(standingOrderId);
    expect(kept.map(({ considered }) => considered)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  it('replays more decisions than are read at a time', async () => {
    await history.decided({ packet: TO_JANE });
    await test.rows(
      `insert into policy_decisions select workspace_id, decision_id || n, work_packet_id || n, team_id, at, outcome, decision,
         input, params, target from policy_decisions, generate_series(1, 1204) n where workspace_id = $1`,
      [workspaceId],
    );
    const standingOrderId = await desk.create(MAIL_TO_ACME, owner);
    const { body } = await simulate(standingOrderId);
    expect(body).toMatchObject({ considered: 1205, relaxed: 1205, changesOmitted: 1105 });
    expect(body.changes).toHaveLength(100);
  });

  it('names and counts work packets only to those who may see them', async () => {
    const teamId = (await test.createTeam(workspaceId, 'Sales')) as `team_${string}`;
    await history.decided({ packet: { ...TO_JANE, teamId } });
    const nobodys = await history.decided({ packet: TO_JANE });
    const standingOrderId = await desk.create(MAIL_TO_ACME, owner);
    const free = await test.createMember(workspaceId, 'operator');
    const theirs = (await simulate(standingOrderId, free)).body;
    expect(theirs).toMatchObject({ considered: 1, relaxed: 1, relaxedIrreversible: 1, changesOmitted: 0 });
    expect(theirs.changes.map(({ workPacketId }: { workPacketId: string }) => workPacketId)).toEqual([
      nobodys.packet.workPacketId,
    ]);
    const all = (await simulate(standingOrderId)).body;
    expect(all).toMatchObject({ considered: 2, relaxed: 2, changesOmitted: 0 });
    expect(all.hash).not.toBe(theirs.hash);
    expect(all.changes).toHaveLength(2);
    const seller = await test.createMember(workspaceId, 'operator', [teamId]);
    expect((await simulate(standingOrderId, seller)).status).toBe(404);
  });

  it('lets an operator of the team simulate its order, and a viewer not', async () => {
    const teamId = await test.createTeam(workspaceId, 'Sales');
    const standingOrderId = await desk.create({ ...MAIL_TO_ACME, teamId }, owner);
    const viewer = await test.createMember(workspaceId, 'viewer', [teamId]);
    expect((await simulate(standingOrderId, viewer)).status).toBe(403);
    const seller = await test.createMember(workspaceId, 'operator', [teamId]);
    expect((await simulate(standingOrderId, seller)).status).toBe(200);
    const stranger = await test.createMember(workspaceId, 'operator', [
      await test.createTeam(workspaceId, 'Shop'),
    ]);
    expect((await simulate(standingOrderId, stranger)).status).toBe(404);
  });

  it('answers 404 for what is no order, or one of another workspace', async () => {
    expect((await simulate(newId('so'))).status).toBe(404);
    expect((await simulate('nonsense')).status).toBe(404);
    expect((await simulate(await desk.create(NO_MAIL))).status).toBe(404);
  });

  it('holds neither the order nor the decisions of the workspace while it runs', async () => {
    await history.decided({ packet: TO_JANE });
    const standingOrderId = await desk.create(MAIL_TO_ACME, owner);
    await history.decided({ packet: TO_JANE });
    // Whoever reads this table waits, and so does the simulation in the middle of its history.
    const holder = await test.database.owner.connect();
    await holder.query('begin');
    await holder.query('lock table policies in access exclusive mode');
    const simulating = simulate(standingOrderId);
    let isWaiting = false;
    while (!isWaiting) isWaiting = (await desk.waiting()) > 0;
    const paused = await desk.elsewhere(owner).delete(`/standing-orders/${standingOrderId}`);
    expect(paused.body.status).toBe('archived');
    const free = await test.rows(
      'select 1 where pg_try_advisory_xact_lock(hashtextextended($1, 2)) and pg_try_advisory_xact_lock(hashtextextended($1, 3))',
      [workspaceId],
    );
    expect(free).toHaveLength(1);
    await holder.query('commit');
    holder.release();
    expect((await simulating).status).toBe(200);
  });
});

describe('an activation', () => {
  it('has the hash of its simulation in its receipt', async () => {
    await history.decided({ packet: TO_JANE });
    const standingOrderId = await desk.create(MAIL_TO_ACME, owner);
    await history.decided({ packet: TO_JANE });
    const { body } = await desk.activate(standingOrderId, owner);
    expect(body).toMatchObject({ status: 'active', simulation: { considered: 2, relaxedIrreversible: 2 } });
    const [created, activated] = (await desk.receipts(standingOrderId)) as any[];
    expect(created.details.simulation).toMatchObject({ considered: 1, relaxedIrreversible: 1 });
    const { computedAt: _computedAt, ...facts } = body.simulation;
    const simulation = { ...facts, wholeHash: facts.hash };
    expect(activated.details).toMatchObject({ acknowledged: true, simulation });
    const [, row] = await simulations(standingOrderId);
    expect(row).toMatchObject({ simulation_id: facts.simulationId, hash: facts.hash, version: 1 });
  });

  it('is held where a version that seems harmless relaxes what cannot be undone', async () => {
    // It denied all mail; from now on it denies nothing but posts.
    const standingOrderId = await desk.create({ ...NO_MAIL, effect: 'require_approval' }, owner);
    await desk.elsewhere(owner).post(`/standing-orders/${standingOrderId}/pause`);
    const former = anOrder({
      standingOrderId: standingOrderId as `so_${string}`,
      effect: 'deny',
      version: 7,
    });
    await history.decided({ packet: TO_JANE, orders: [former] });
    const answer = await desk.elsewhere(owner).post(`/standing-orders/${standingOrderId}/activate`);
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({
      code: 'SIMULATION_REQUIRED',
      message:
        'It would have decided less strictly about 1 work packet of the past that cannot be undone. An owner must allow it with "acknowledge": true and "version": 1.',
      details: {
        simulation: { relaxedIrreversible: 1, changes: [{ from: 'deny', to: 'require_approval' }] },
      },
    });
    expect((await desk.activate(standingOrderId, owner)).body.status).toBe('active');
  });

  it('simulates a version that was changed while it was being simulated once more', async () => {
    await history.decided({ packet: TO_JANE });
    const standingOrderId = await desk.create(MAIL_TO_ACME, owner);
    await history.decided({ packet: TO_JANE });
    const holder = await test.database.owner.connect();
    await holder.query('begin');
    await holder.query('lock table policies in access exclusive mode');
    const activating = desk.elsewhere(owner).post(`/standing-orders/${standingOrderId}/activate`);
    let isWaiting = false;
    while (!isWaiting) isWaiting = (await desk.waiting()) > 0;
    await test.rows(
      `update standing_orders set version = 2, hash = 'other', match = '{"actionTypes": ["document.file"]}'
       where standing_order_id = $1`,
      [standingOrderId],
    );
    await holder.query('commit');
    holder.release();
    const { body } = await activating;
    expect(body).toMatchObject({ status: 'active', simulation: { version: 2, considered: 2, relaxed: 0 } });
  });

  it('is done once under one Idempotency-Key', async () => {
    await history.decided({ packet: TO_JANE });
    const standingOrderId = await desk.create(MAIL_TO_ACME, owner);
    const key = { 'Idempotency-Key': newId('req') };
    const path = `/standing-orders/${standingOrderId}/activate`;
    const client = desk.elsewhere(owner);
    const answers = await Promise.all(
      [1, 2, 3].map(() => client.post(path, { acknowledge: true, version: 1 }, key)),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(2);
    expect(await desk.actions(standingOrderId)).toHaveLength(2);
  });
});

describe('a check that another feature registers', () => {
  const objections: string[] = [];
  const before: string[] = [];
  beforeAll(() => {
    const checks = test.app.get(ActivationChecks);
    checks.register(async () => ({ objections: [...objections], evalRunId: 'evl_of_the_test' }));
    checks.registerBefore(async () => before.push('kept'));
  });
  afterEach(() => {
    objections.length = before.length = 0;
  });

  it('keeps a new order a draft, and says why', async () => {
    objections.push('It contradicts another order.');
    const { body } = await desk.elsewhere(owner).post('/standing-orders', FILE_DOCUMENTS);
    expect(body).toMatchObject({
      status: 'draft',
      evalRunId: 'evl_of_the_test',
      heldBecause:
        'It contradicts another order. An owner must allow it with "acknowledge": true and "version": 1.',
    });
    expect(before).toEqual([]);
    const { standingOrderId } = body;
    expect((await desk.row(standingOrderId)).held_because).toBe(body.heldBecause);
    const refused = await desk.elsewhere(owner).post(`/standing-orders/${standingOrderId}/activate`);
    expect(refused.body.error).toMatchObject({ code: 'SIMULATION_REQUIRED', message: body.heldBecause });
    expect((await desk.activate(standingOrderId, owner)).body).toMatchObject({
      status: 'active',
      heldBecause: null,
    });
    expect(before).toEqual(['kept']);
    const [, activated] = (await desk.receipts(standingOrderId)) as any[];
    expect(activated.details).toMatchObject({ acknowledged: true, evalRunId: 'evl_of_the_test' });
  });

  it('lets an order that it has nothing against become active, and is told before', async () => {
    const { body } = await desk.elsewhere(owner).post('/standing-orders', FILE_DOCUMENTS);
    expect(body).toMatchObject({ status: 'active', evalRunId: 'evl_of_the_test' });
    expect(before).toEqual(['kept']);
  });
});
