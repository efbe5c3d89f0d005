import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { untilSwept } from '../../support/sweep.js';
import { Desk, DOCUMENT, expectUnbroken } from '../directives/desk.js';
import { queueWork } from './queued-work.js';

let test: TestApp;
let desk: Desk;
beforeAll(async () => {
  test = await startTestApp();
  desk = new Desk(test);
});
afterAll(() => test.close());

const guardian = async () => (await desk.client.get('/guardian')).body;

interface PacketReceipt {
  seq: number;
  action: string;
  entityId: string;
}

/** The receipts of packets, and the one of the last kill. */
async function receiptsOfPackets(): Promise<PacketReceipt[]> {
  return test.rows<PacketReceipt>(
    `select seq::int, action, entity_id as "entityId" from receipts
     where workspace_id = $1 and action in ('packet.executed', 'packet.failed', 'guardian.killed') order by seq`,
    [test.workspaceId],
  );
}

async function statuses(directiveIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await test.rows<{ id: string; status: string }>(
    'select work_packet_id as id, status from work_packets where directive_id = any($1)',
    [directiveIds],
  );
  return new Map(rows.map(({ id, status }) => [id, status]));
}

/** Lets a work packet that was sent wait again, for a time that is far ahead. */
async function requeue(directiveId: string, position: number): Promise<void> {
  await test.rows(
    `delete from outside_attempts a using work_packets p
     where p.directive_id = $1 and a.work_packet_id = p.work_packet_id and a.event = 'ended'`,
    [directiveId],
  );
  await test.rows(
    `with queued as (
       update work_packets set status = 'queued', executed_at = null where directive_id = $1 and position = $2
       returning work_packet_id, workspace_id
     )
     insert into work_items (kind, id, workspace_id, queue, due_at)
     select 'packet.send', work_packet_id, workspace_id, workspace_id, now() + interval '1 hour' from queued`,
    [directiveId, position],
  );
}

describe('1,000 queued work packets and the kill switch', () => {
  it('start none after the kill has committed, and go on with the revert exactly once each', async () => {
    const packets = await queueWork(test, { directives: 100, packetsEach: 10 });
    const directiveIds = [...new Set(packets.map(({ directiveId }) => directiveId))];
    const byId = new Map(packets.map((packet) => [packet.workPacketId, packet]));
    const status = async (wanted: string) =>
      new Set([...(await statuses(directiveIds))].filter(([, is]) => is === wanted).map(([id]) => id));

    await eventually(
      () => status('executed'),
      (executed) => executed.size >= 100,
      30,
    );
    const killed = await desk.kill('something is wrong');
    const atOnce = await statuses(directiveIds);
    expect(killed.status).toBe(200);
    expect(killed.body).toMatchObject({ mode: 'killed', changed: true });
    const unconfirmed = new Set<string>(
      killed.body.unconfirmed.map((one: { workPacketId: string }) => one.workPacketId),
    );
    expect([...atOnce.values()]).not.toContain('queued');

    // Whatever had been handed out ends or is aborted, and nothing else is sent.
    await eventually(
      () => status('sending'),
      (sending) => sending.size === 0,
    );
    const halted = await status('halted');
    expect(halted.size).toBeGreaterThan(100);
    await untilSwept(test);
    expect(await status('halted')).toEqual(halted);
    const receipts = await receiptsOfPackets();
    const kill = receipts.findIndex(({ action }) => action === 'guardian.killed');
    const after = receipts.slice(kill + 1);
    expect(after.filter(({ entityId }) => !unconfirmed.has(entityId))).toEqual([]);
    for (const id of unconfirmed) expect(byId.get(id)!.actionType).toBe('email.send');
    const executed = await status('executed');
    expect(executed.size + halted.size).toBe(1_000);
    expect(receipts.filter(({ action }) => action === 'packet.executed')).toHaveLength(executed.size);

    const haltedDirectives = await test.rows<{ directiveId: string }>(
      `select directive_id as "directiveId" from directives where status = 'halted' and halted_from = 'sending'`,
    );
    expect(killed.body.halted).toEqual({
      queued: 0,
      executing: 0,
      sending: haltedDirectives.length,
      voided: 0,
    });
    expect(await guardian()).toMatchObject({
      mode: 'killed',
      epoch: killed.body.epoch,
      reason: 'something is wrong',
    });

    // Again: nothing changes.
    const again = await desk.kill('still');
    expect(again.status).toBe(200);
    expect(again.body).toEqual({
      mode: 'killed',
      changed: false,
      epoch: killed.body.epoch,
      killedAt: killed.body.killedAt,
      receiptId: null,
      halted: { queued: 0, executing: 0, sending: 0, voided: 0 },
      unconfirmed: [],
    });

    const reverted = await desk.client.post('/guardian/revert', { reason: 'all clear' });
    expect(reverted.status).toBe(200);
    expect(new Set(reverted.body.plan.map((step: { workPacketId: string }) => step.workPacketId))).toEqual(
      halted,
    );
    await eventually(
      () => status('executed'),
      (done) => done.size === 1_000,
      45,
    );
    const all = (await receiptsOfPackets()).filter(({ action }) => action === 'packet.executed');
    expect(all).toHaveLength(1_000);
    expect(new Set(all.map(({ entityId }) => entityId)).size).toBe(1_000);
    const count = (type: string) => packets.filter(({ actionType }) => actionType === type).length;
    const [made] = await test.rows(
      `select (select count(*)::int from documents) as documents,
         (select count(*)::int from signals where entity->>'type' = 'work_packet') as signals`,
    );
    expect(made).toEqual({ documents: count('document.file'), signals: count('signal.raise') });
    const mails = (await readdir(join(test.dataDir, 'outbox'))).filter((name) => name.endsWith('.eml'));
    expect(mails).toHaveLength(count('email.send'));

    const open = () =>
      test.rows(`select status from directives where directive_id = any($1) and status <> 'executed'`, [
        directiveIds,
      ]);
    await eventually(open, (rest) => rest.length === 0);
    for (const { directiveId } of haltedDirectives.slice(0, 5))
      expectUnbroken(await desk.directive(directiveId));
  }, 120_000);
});

describe('while killed', () => {
  afterEach(async () => {
    if ((await guardian()).mode === 'killed') await desk.revert();
  });

  it('approve is 423 and leaves the approval alone, reject works', async () => {
    const kept = await desk.handInReady();
    const refused = await desk.handInReady();
    await desk.kill();
    const answer = await desk.approve(kept.approvalId);
    expect(answer.status).toBe(423);
    expect(answer.body.error.code).toBe('GUARDIAN_HALTED');
    expect(await desk.approval(kept.approvalId)).toMatchObject({ status: 'pending', ready: true });
    expect((await desk.reject(refused.approvalId)).body).toMatchObject({
      status: 'rejected',
      directiveStatus: 'rejected',
    });
    const many = await desk.client.post('/approvals', { approvalId: kept.approvalId, decision: 'approve' });
    expect(many.body.results).toMatchObject([{ error: { code: 'GUARDIAN_HALTED', status: 423 } }]);

    await desk.revert();
    expect((await desk.approve(kept.approvalId)).status).toBe(200);
    await desk.until(kept.directiveId, 'executed');
  });

  it('the clock of an approval stands still, and goes on with what was left', async () => {
    const { approvalId, directiveId } = await desk.handInReady();
    const expires = (interval: string) =>
      test.rows('update approvals set expires_at = now() + $2::interval where approval_id = $1', [
        approvalId,
        interval,
      ]);
    await expires('10 seconds');
    const version = () => test.rows('select xmin from approvals where approval_id = $1', [approvalId]);
    const before = await version();
    await desk.kill();
    // However many wait, a kill changes none of them.
    expect(await version()).toEqual(before);
    const first = await desk.approval(approvalId);
    test.clock.advance(60_000);
    const second = await desk.approval(approvalId);
    expect(second).toMatchObject({ status: 'pending', urgent: true });
    expect(second.expiresAt - first.expiresAt).toBeGreaterThanOrEqual(60_000);
    // As if the kill had come an hour ago.
    await test.rows(
      `with earlier as (update guardians set clocks_stopped_at = clocks_stopped_at - interval '1 hour' where workspace_id = $2)
       update approvals set requested_at = requested_at - interval '1 hour', expires_at = expires_at - interval '1 hour'
       where approval_id = $1`,
      [approvalId, test.workspaceId],
    );
    await untilSwept(test);
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'pending', urgent: true });
    // The sweep has found it once, and does not find it again.
    expect(
      await test.rows(
        `select frozen_ms > 0 as rests, exists (select from work_items where id = approval_id) as "isWorkedOn" from approvals
         where approval_id = $1`,
        [approvalId],
      ),
    ).toEqual([{ rests: true, isWorkedOn: false }]);

    await desk.revert();
    const given = await desk.approval(approvalId);
    expect(given.status).toBe('pending');
    expect(given.expiresAt - test.clock.now()).toBeGreaterThan(0);
    expect(given.expiresAt - test.clock.now()).toBeLessThanOrEqual(10_000);
    test.clock.goOn();
    await expires('-1 second');
    await desk.until(directiveId, 'expired');
  });

  it('what is handed in waits, and goes on with the revert', async () => {
    await desk.kill();
    const asked = await desk.handIn();
    const free = (
      await desk.client.post('/directives', {
        directive: DOCUMENT,
        capo: 'capo_ops',
        requiresApproval: false,
      })
    ).body;
    expect(free.status).toBe('queued');
    await untilSwept(test);
    expect(await desk.approval(asked.approvalId)).toMatchObject({ ready: false, status: 'pending' });
    expect(await desk.directive(free.directiveId)).toMatchObject({
      status: 'queued',
      startedAt: null,
      output: null,
    });
    await desk.revert();
    await desk.ready(asked.approvalId);
    const reviewed = await desk.until(free.directiveId, 'pending_approval');
    expectUnbroken(reviewed);
  });

  it('a further draft that was asked for waits, and is made after the revert', async () => {
    const { approvalId, directiveId } = await desk.handInReady();
    await desk.kill();
    const revised = await desk.reject(approvalId, { feedback: 'Make it shorter.', revise: true });
    expect(revised.body).toMatchObject({ status: 'changes_requested', directiveStatus: 'pending_approval' });
    await untilSwept(test);
    const { approvalId: next } = await desk.directive(directiveId);
    expect(await desk.approval(next)).toMatchObject({ ready: false });
    await desk.revert();
    await desk.ready(next);
  });

  it('an approval that was asked for meanwhile keeps its time', async () => {
    await desk.kill();
    const { approvalId } = await desk.handIn();
    await test.rows(
      `update approvals set requested_at = now() - interval '1 hour', expires_at = now() - interval '1 second'
       where approval_id = $1`,
      [approvalId],
    );
    await test.rows(
      `update guardians set killed_at = now() - interval '2 hours', clocks_stopped_at = now() - interval '2 hours'
       where workspace_id = $1`,
      [test.workspaceId],
    );
    await untilSwept(test);
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'pending' });
    await desk.revert();
    const given = await desk.approval(approvalId);
    expect(given).toMatchObject({ status: 'pending' });
    const left = given.expiresAt - test.clock.now();
    expect([left > 3_590_000, left < 3_600_000]).toEqual([true, true]);
  });

  it('a halted directive of which a part was sent is neither cancelled nor expired', async () => {
    const [packet] = await queueWork(test, { directives: 1, packetsEach: 2 });
    const { directiveId } = packet!;
    await desk.until(directiveId, 'executed');
    // As the kill finds it between its two work packets.
    await test.rows(`update directives set status = 'sending' where directive_id = $1`, [directiveId]);
    await requeue(directiveId, 1);
    await desk.kill();
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'halted' });
    expect((await desk.client.post(`/directives/${directiveId}/cancel`)).status).toBe(409);
    await test.rows(`update directives set deadline = now() - interval '1 minute' where directive_id = $1`, [
      directiveId,
    ]);
    await untilSwept(test);
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'halted' });
    await test.rows('update directives set deadline = null where directive_id = $1', [directiveId]);
  });

  it('a halted directive of which nothing was sent can be cancelled', async () => {
    const [packet] = await queueWork(test, { directives: 1, packetsEach: 1 });
    const { directiveId } = packet!;
    await desk.until(directiveId, 'executed');
    await test.rows(`update directives set status = 'sending' where directive_id = $1`, [directiveId]);
    await requeue(directiveId, 0);
    await desk.kill();
    const cancelled = await desk.client.post(`/directives/${directiveId}/cancel`);
    expect(cancelled.status).toBe(200);
    expect(cancelled.body.status).toBe('cancelled');
    await desk.revert();
    await untilSwept(test);
    expect((await desk.packets(directiveId))[0].status).toBe('cancelled');
  });
});

describe('a work packet that is claimed when the kill comes, and not yet being sent', () => {
  it('goes on with the revert, though its process died and another found it halted', async () => {
    const [packet] = await queueWork(test, { directives: 1, packetsEach: 1, types: ['email.send'] });
    const { directiveId, workPacketId } = packet!;
    await desk.until(directiveId, 'executed');
    await test.rows(`update directives set status = 'sending' where directive_id = $1`, [directiveId]);
    await requeue(directiveId, 0);
    await test.rows('update work_items set claimed = true, attempt = 1 where id = $1', [workPacketId]);
    await desk.kill();
    await test.rows('update work_items set due_at = now() where id = $1', [workPacketId]);
    await untilSwept(test);
    expect((await desk.packets(directiveId))[0]).toMatchObject({ status: 'halted', attempts: 1 });

    await desk.revert();
    await desk.until(directiveId, 'executed');
    expect((await desk.packets(directiveId))[0]).toMatchObject({ status: 'executed', attempts: 2 });
  });
});

describe('the modes', () => {
  afterEach(() => desk.mode('guardrailed'));

  it('observe parks what was approved, and sends it when it ends', async () => {
    const [packet] = await queueWork(test, { directives: 1, packetsEach: 1 });
    await desk.until(packet!.directiveId, 'executed');
    await desk.mode('observe');
    const parkedPackets = await queueWork(test, { directives: 3, packetsEach: 3 });
    await untilSwept(test);
    const directiveIds = parkedPackets.map(({ directiveId }) => directiveId);
    expect([...(await statuses(directiveIds)).values()]).toEqual(Array(9).fill('queued'));
    const attempts = await test.rows(
      'select distinct attempts from work_packets where directive_id = any($1)',
      [directiveIds],
    );
    expect(attempts).toEqual([{ attempts: 0 }]);
    await eventually(
      () =>
        test.rows(`select id from work_items where id = any($1) and (claimed or due_at < 'infinity')`, [
          parkedPackets.map(({ workPacketId }) => workPacketId),
        ]),
      (notParked) => notParked.length === 0,
    );

    const { approvalId } = await desk.handInReady();
    const refused = await desk.approve(approvalId);
    expect(refused.status).toBe(423);
    expect(refused.body.error.details).toEqual({ mode: 'observe' });

    await desk.mode('guardrailed');
    for (const directiveId of new Set(directiveIds)) await desk.until(directiveId, 'executed');
  });

  it.each([
    ['guardrailed', 'executed'],
    ['supervised', 'pending_approval'],
  ])('%s with an order that allows leads to %s', async (mode, status) => {
    await test.rows(
      `insert into standing_orders (standing_order_id, workspace_id, name, text, status, effect, match, hash, created_by,
         created_at, updated_at) values ($1, $2, 'File documents', 'Documents may be filed.', 'active', 'allow',
         '{"actionTypes": ["document.file"]}', 'x', '{}', now(), now())`,
      [`so_${mode.padEnd(26, '0')}`, test.workspaceId],
    );
    await desk.mode(mode);
    const { body } = await desk.client.post('/directives', {
      directive: DOCUMENT,
      capo: 'capo_ops',
      requiresApproval: false,
    });
    const directive = await desk.until(body.directiveId, status);
    expectUnbroken(directive);
    if (status === 'pending_approval') {
      expect((await desk.approval(directive.approvalId)).policy.explanation.join(' ')).toMatch(/supervised/i);
    }
    await test.rows('delete from standing_orders');
  });
});

describe('the routes', () => {
  const ROUTES = [
    ['GET', '/guardian', undefined, 'viewer'],
    ['POST', '/guardian/kill-switch', {}, 'operator'],
    ['POST', '/guardian/killswitch', {}, 'operator'],
    ['POST', '/guardian/revert', {}, 'admin'],
    ['PUT', '/guardian/mode', { mode: 'guardrailed' }, 'admin'],
  ] as const;
  const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const;

  it.each(ROUTES)(
    '%s %s is for whom it is, and nobody without a token',
    async (method, path, body, least) => {
      const { workspaceId } = await test.createWorkspace();
      expect((await new Client(test.url, undefined).send(method, path, body)).status).toBe(401);
      for (const role of ROLES) {
        const member = await test.createMember(workspaceId, role);
        const { status } = await member.send(method, path, body);
        const may = ROLES.indexOf(role) >= ROLES.indexOf(least);
        // A revert of nothing is refused as such; whoever may not act is refused before.
        expect(status === 403, `${role}: ${status}`).toBe(!may);
        expect([200, 403, 409]).toContain(status);
      }
    },
  );

  it('GET /guardian answers the state and counts what waits', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const own = new Desk(test, owner.token);
    expect((await owner.get('/guardian')).body).toEqual({
      mode: 'guardrailed',
      pending: 0,
      epoch: 0,
      killedAt: null,
      killedBy: null,
      reason: null,
      lastCheckpointId: null,
      blocked24h: 0,
    });
    await own.handInReady();
    await test.rows(
      `insert into standing_orders (standing_order_id, workspace_id, name, text, status, effect, match, hash, created_by,
         created_at, updated_at) values ('so_deny', $1, 'No mail', 'No mail.', 'active', 'deny',
         '{"actionTypes": ["email.send"]}', 'x', '{}', now(), now())`,
      [workspaceId],
    );
    const { directiveId } = await own.handIn();
    expect(await own.until(directiveId, 'failed')).toMatchObject({ error: { code: 'POLICY_DENIED' } });
    expect((await owner.get('/guardian')).body).toMatchObject({ pending: 1, blocked24h: 1 });
  });

  it('a kill is one receipt, one epoch, and stops one workspace only', async () => {
    const { workspaceId } = await test.createWorkspace();
    const operator = await test.createMember(workspaceId, 'operator', [
      await test.createTeam(workspaceId, 'Ops'),
    ]);
    const { body } = await operator.post('/guardian/killswitch', { reason: 'drill' });
    expect(body).toMatchObject({
      mode: 'killed',
      changed: true,
      epoch: 1,
      receiptId: expect.stringMatching(/^rcp_/),
    });
    const receipts = await test.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and action = 'guardian.killed'`,
      [workspaceId],
    );
    expect(receipts.map((receipt) => JSON.parse(receipt.body))).toMatchObject([
      { receiptId: body.receiptId, guardianEpoch: 1, details: { reason: 'drill' } },
    ]);
    expect((await operator.get('/guardian')).body).toMatchObject({
      mode: 'killed',
      killedAt: body.killedAt,
      killedBy: { type: 'member', id: operator.memberId },
    });
    expect((await guardian()).mode).toBe('guardrailed');
  });

  it('ten kills at once are one', async () => {
    const { owner } = await test.createWorkspace();
    const answers = await Promise.all(Array.from({ length: 10 }, () => owner.post('/guardian/kill-switch')));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(answers.filter(({ body }) => body.changed)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.epoch))).toEqual(new Set([1]));
  });

  it('PUT /guardian/mode is 423 while killed, and a revert goes back to the mode before', async () => {
    const { owner } = await test.createWorkspace();
    await owner.put('/guardian/mode', { mode: 'supervised' });
    await owner.post('/guardian/kill-switch');
    const refused = await owner.put('/guardian/mode', { mode: 'autonomous' });
    expect(refused.status).toBe(423);
    expect(refused.body.error.code).toBe('GUARDIAN_HALTED');
    const reverted = await owner.post('/guardian/revert', { reason: 'drill over' });
    expect(reverted.body).toEqual({
      revertId: expect.stringMatching(/^rvt_/),
      mode: 'resume',
      status: 'done',
      checkpointId: null,
      plan: [],
      planTotal: 0,
      restored: null,
      receiptId: expect.stringMatching(/^rcp_/),
    });
    expect((await owner.get('/guardian')).body).toMatchObject({
      mode: 'supervised',
      epoch: 1,
      killedAt: null,
    });
    const nothing = await owner.post('/guardian/revert', {});
    expect(nothing.status).toBe(409);
    expect(nothing.body.error.code).toBe('INVALID_TRANSITION');
  });

  it.each([
    ['POST', '/guardian/kill-switch', { reason: 7 }],
    ['POST', '/guardian/kill-switch', { reason: ['x'] }],
    ['POST', '/guardian/kill-switch', { reasons: 'x' }],
    ['POST', '/guardian/revert', { mode: 'undo' }],
    ['PUT', '/guardian/mode', {}],
    ['PUT', '/guardian/mode', { mode: 'killed' }],
    ['PUT', '/guardian/mode', { mode: 'recovering' }],
  ])('%s %s refuses %j with 422', async (method, path, body) => {
    const answer = await desk.client.send(method, path, body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.code).toBe('VALIDATION_FAILED');
    expect((await guardian()).mode).toBe('guardrailed');
  });
});
