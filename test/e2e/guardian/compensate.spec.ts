import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { ScriptedRunner } from '../../support/scripted-runner.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk, expectUnbroken } from '../directives/desk.js';
import { carryOut, PACKETS } from './carried-out.js';

let test: TestApp;
let runner: ScriptedRunner;
beforeAll(async () => {
  test = await startTestApp();
  runner = new ScriptedRunner(test);
});
afterAll(() => test.close());

/** The owner of a workspace of its own. */
async function newDesk(): Promise<Desk & { workspaceId: string }> {
  const { workspaceId, owner } = await test.createWorkspace();
  return Object.assign(new Desk(test, owner.token), { workspaceId });
}

const checkpoint = async (desk: Desk) =>
  (await desk.client.post('/guardian/checkpoint')).body.checkpointId as string;
const compensate = (desk: Desk, body: object = {}) =>
  desk.client.post('/guardian/revert', { mode: 'compensate', ...body });
const read = async (desk: Desk, revertId: string) =>
  (await desk.client.get(`/guardian/reverts/${revertId}?limit=100`)).body;
const guardian = async (desk: Desk) => (await desk.client.get('/guardian')).body;

/** The revert once it is over. */
const over = (desk: Desk, revertId: string) =>
  eventually(
    () => read(desk, revertId),
    ({ status }) => status === 'done',
    20,
  );

const receipts = async (workspaceId: string, action: string) =>
  (
    await test.rows<{ body: string }>(
      'select body from receipts where workspace_id = $1 and action = $2 order by seq',
      [workspaceId, action],
    )
  ).map(({ body }) => JSON.parse(body));

const revenueOf = async (desk: Desk) => (await desk.client.get('/api/pro/metrics')).body.revenue;

describe('POST /guardian/revert with compensate', () => {
  it('undoes what was carried out since the checkpoint, the newest first, each once, and goes back to the mode before', async () => {
    const desk = await newDesk();
    await desk.mode('supervised');
    const before = await carryOut(desk, runner, [PACKETS.document]);
    const checkpointId = await checkpoint(desk);
    const one = await carryOut(desk, runner, [PACKETS.document, PACKETS.signal]);
    const two = await carryOut(desk, runner, [PACKETS.mail, PACKETS.document]);
    const executed = await receipts(desk.workspaceId, 'packet.executed');
    await desk.kill();

    const answer = await compensate(desk, { reason: 'A wrong price list.' });
    expect(answer.status, answer.text).toBe(200);
    const { revertId, plan } = answer.body;
    expect(answer.body).toMatchObject({
      mode: 'compensate',
      status: 'running',
      checkpointId,
      planTotal: 4,
      restored: null,
      receiptId: expect.stringMatching(/^rcp_/),
    });
    const newestFirst = executed
      .slice(1)
      .map(({ entity }) => entity.id)
      .toReversed();
    expect(plan.map((step: { workPacketId: string }) => step.workPacketId)).toEqual(newestFirst);
    expect(plan.map((step: { status: string }) => step.status).toSorted()).toEqual([
      'not_possible',
      'planned',
      'planned',
      'planned',
    ]);

    const done = await over(desk, revertId);
    expect(done.counts).toEqual({ planned: 0, done: 3, failed: 0, not_possible: 1, skipped: 0 });
    expect(await guardian(desk)).toMatchObject({ mode: 'supervised', killedAt: null });
    const statuses = async (id: string) => (await desk.packets(id)).map(({ status }) => status);
    expect(await statuses(before)).toEqual(['executed']);
    expect(await statuses(one)).toEqual(['reverted', 'reverted']);
    expect((await statuses(two)).toSorted()).toEqual(['executed', 'reverted']);
    expect(await desk.directive(before)).toMatchObject({ status: 'executed' });
    const reverted = await desk.directive(one);
    expect(reverted.status).toBe('reverted');
    expectUnbroken(reverted);
    expect(await desk.directive(two)).toMatchObject({ status: 'executed' });
    expect((await desk.client.get('/documents')).body.total).toBe(1);
    expect((await desk.client.get('/signals')).body.items).toEqual([]);

    // A receipt for each, with the receipt of what was undone, in the order of the plan.
    const undone = await receipts(desk.workspaceId, 'packet.reverted');
    const planned = plan.filter((step: { status: string }) => step.status === 'planned');
    expect(undone.map(({ entity }) => entity.id)).toEqual(
      planned.map((step: { workPacketId: string }) => step.workPacketId),
    );
    for (const { entity, details } of undone) {
      expect(details.undoes).toBe(executed.find((receipt) => receipt.entity.id === entity.id).receiptId);
      expect(details.revertId).toBe(revertId);
    }
    const [begun] = await receipts(desk.workspaceId, 'guardian.recovering');
    expect(begun).toMatchObject({
      receiptId: answer.body.receiptId,
      details: { reason: 'A wrong price list.' },
    });
    const [ended] = await receipts(desk.workspaceId, 'guardian.reverted');
    expect(ended.details).toMatchObject({ mode: 'compensate', checkpointId, steps: done.counts });
    expect((await desk.client.get('/audit-feed/verify')).body).toMatchObject({ ok: true, faults: [] });
  });

  it('takes revenue back in each currency, so that every sum is what it was', async () => {
    const desk = await newDesk();
    const figures = await revenueOf(desk);
    await checkpoint(desk);
    await carryOut(desk, runner, [PACKETS.revenue(600.5, 'EUR'), PACKETS.revenue(20.25, 'USD')], {
      capo: 'capo_revenue',
    });
    await desk.client.post('/revenue-events', { amount: 5, currency: 'EUR', source: 'shop' });
    await desk.kill();
    const { revertId } = (await compensate(desk)).body;
    expect((await over(desk, revertId)).counts).toMatchObject({ done: 2, failed: 0 });

    const after = await revenueOf(desk);
    expect(after).toEqual({
      ...figures,
      h24: 0,
      d7: 0,
      d30: 0,
      byCurrency: { EUR: { h24: 5, d7: 5, d30: 5 } },
    });
    const { items } = (await desk.client.get('/revenue-events')).body;
    const [eur] = items.filter((event: { amount: number }) => event.amount === -600.5);
    const [was] = items.filter((event: { amount: number }) => event.amount === 600.5);
    expect(eur).toMatchObject({
      reverses: was.eventId,
      currency: 'EUR',
      occurredAt: was.occurredAt,
      source: 'Acme',
    });
    expect(items).toHaveLength(5);
  });

  it('cancels a directive that was handed on and not carried out, and reverts one that was', async () => {
    const desk = await newDesk();
    await checkpoint(desk);
    const waiting = await carryOut(desk, runner, [PACKETS.delegation('Write to nobody.')], { capo: 'ceo' });
    const text = `Handed on ${newId('req')}`;
    runner.answer(text, { packets: [PACKETS.document] });
    const carriedOut = await carryOut(desk, runner, [PACKETS.delegation(text)], { capo: 'ceo' });
    const childOf = async (id: string) => (await desk.packets(id))[0].result.directiveId as string;
    const child = await childOf(carriedOut);
    const { approvalId } = await desk.directive(child);
    await desk.ready(approvalId);
    await desk.approve(approvalId);
    await desk.until(child, 'executed');
    await desk.kill();

    const { revertId } = (await compensate(desk)).body;
    expect((await over(desk, revertId)).counts).toMatchObject({ done: 3, failed: 0, not_possible: 0 });
    expect(await desk.directive(await childOf(waiting))).toMatchObject({ status: 'cancelled' });
    expect(await desk.directive(child)).toMatchObject({ status: 'reverted' });
    for (const id of [waiting, carriedOut])
      expect(await desk.directive(id)).toMatchObject({ status: 'reverted' });
  });

  it('says why a delegation stays of which a mail was sent', async () => {
    const desk = await newDesk();
    await checkpoint(desk);
    const text = `Handed on ${newId('req')}`;
    runner.answer(text, { packets: [PACKETS.mail] });
    const parent = await carryOut(desk, runner, [PACKETS.delegation(text)], { capo: 'ceo' });
    const child = (await desk.packets(parent))[0].result.directiveId;
    const { approvalId } = await desk.directive(child);
    await desk.ready(approvalId);
    await desk.approve(approvalId);
    await desk.until(child, 'executed');
    await desk.kill();
    const { revertId } = (await compensate(desk)).body;
    const { counts, steps } = await over(desk, revertId);
    expect(counts).toMatchObject({ done: 0, not_possible: 2 });
    expect(steps.items[1]).toMatchObject({
      status: 'not_possible',
      reason: expect.stringContaining('1 of its work packets could not be undone'),
      receiptId: expect.stringMatching(/^rcp_/),
    });
    expect(await desk.directive(parent)).toMatchObject({ status: 'executed' });
  });

  it('archives a draft of a standing order that was proposed, and leaves one that a person has activated', async () => {
    const desk = await newDesk();
    await checkpoint(desk);
    const propose = async () => {
      const { directiveId } = { directiveId: await carryOut(desk, runner, [PACKETS.document]) };
      const order = { name: 'Memos', effect: 'deny', match: { actionTypes: ['document.file'] } };
      const { standingOrderId } = (await desk.client.post('/standing-orders', order)).body;
      await test.rows(`update work_packets set compensation = $2 where directive_id = $1`, [
        directiveId,
        { type: 'standing_order.archive', params: { standingOrderId } },
      ]);
      return standingOrderId as string;
    };
    const draft = await propose();
    await test.rows(`update standing_orders set status = 'draft' where standing_order_id = $1`, [draft]);
    const activated = await propose();
    await desk.kill();
    const { checkpointId } = (await desk.client.get('/guardian/checkpoint')).body.items.at(-1);
    const reason =
      'A person has made the standing order "Memos" active since; archive it by hand if it is not wanted.';
    expect((await compensate(desk, { checkpointId, dryRun: true })).body.plan).toMatchObject([
      { status: 'not_possible', reason },
      { status: 'planned', reason: null },
    ]);
    const { revertId } = (await compensate(desk, { checkpointId })).body;
    expect((await over(desk, revertId)).counts).toMatchObject({ done: 1, not_possible: 1 });
    const status = async (id: string) => (await desk.client.get(`/standing-orders/${id}`)).body.status;
    expect([await status(draft), await status(activated)]).toEqual(['archived', 'active']);
  });

  it('sends nothing more of a halted directive of which a part was undone', async () => {
    const desk = await newDesk();
    await checkpoint(desk);
    const directiveId = await carryOut(desk, runner, [PACKETS.document, PACKETS.signal]);
    // As the kill finds it between its two work packets.
    await test.rows(
      `update work_packets set status = 'queued', executed_at = null, receipt_id = null where directive_id = $1 and position = 1`,
      [directiveId],
    );
    await test.rows(`update directives set status = 'sending' where directive_id = $1`, [directiveId]);
    await desk.kill();
    const { revertId } = (await compensate(desk)).body;
    await over(desk, revertId);
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'reverted' });
    expect((await desk.packets(directiveId)).map(({ status }) => status).toSorted()).toEqual([
      'cancelled',
      'reverted',
    ]);
  });

  it('lets halted work of which nothing was undone go on afterwards, and nothing meanwhile', async () => {
    const desk = await newDesk();
    await checkpoint(desk);
    await carryOut(desk, runner, [PACKETS.document]);
    await desk.kill();
    const free = { directive: 'File it.', capo: 'capo_ops', requiresApproval: false };
    const { directiveId } = (await desk.client.post('/directives', free)).body;
    const { revertId } = (await compensate(desk)).body;
    await over(desk, revertId);
    expect((await desk.until(directiveId, 'pending_approval')).output).not.toBeNull();
  });

  it('engages the kill switch first where nobody has', async () => {
    const desk = await newDesk();
    await checkpoint(desk);
    await carryOut(desk, runner, [PACKETS.document]);
    const { body } = await compensate(desk, { reason: 'Undo it.' });
    expect(body.status).toBe('running');
    await over(desk, body.revertId);
    expect(await guardian(desk)).toMatchObject({ mode: 'guardrailed', epoch: 1 });
    expect(await receipts(desk.workspaceId, 'guardian.killed')).toMatchObject([
      { details: { reason: 'Undo it.' } },
    ]);
  });

  it('is over at once where there is nothing to undo', async () => {
    const desk = await newDesk();
    await checkpoint(desk);
    await desk.kill();
    const { body } = await compensate(desk);
    expect(body).toMatchObject({ status: 'done', plan: [], planTotal: 0 });
    expect(await guardian(desk)).toMatchObject({ mode: 'guardrailed', killedAt: null });
    expect(await read(desk, body.revertId)).toMatchObject({ status: 'done', counts: { done: 0 } });
  });

  it('with dryRun shows the plan and changes nothing', async () => {
    const desk = await newDesk();
    const checkpointId = await checkpoint(desk);
    const directiveId = await carryOut(desk, runner, [PACKETS.document]);
    const { seq } = (await desk.client.get('/audit-feed/head')).body;
    const { body } = await compensate(desk, { dryRun: true });
    const [{ workPacketId, title }] = await desk.packets(directiveId);
    expect(title).toBeTruthy();
    expect(body).toMatchObject({
      revertId: null,
      receiptId: null,
      status: 'planned',
      checkpointId,
      planTotal: 1,
      plan: [{ workPacketId, title, status: 'planned', compensation: { type: 'document.withdraw' } }],
    });
    expect((await desk.client.get('/audit-feed/head')).body.seq).toBe(seq);
    expect(await guardian(desk)).toMatchObject({ mode: 'guardrailed', epoch: 0 });
  });

  it('by default goes back to the last checkpoint before the kill, not to that of the kill itself', async () => {
    const desk = await newDesk();
    await checkpoint(desk);
    const directiveId = await carryOut(desk, runner, [PACKETS.document]);
    await desk.kill();
    await desk.revert();
    const { lastCheckpointId } = await guardian(desk);
    await carryOut(desk, runner, [PACKETS.signal]);
    await desk.kill();
    const { body } = await compensate(desk);
    expect(body).toMatchObject({ checkpointId: lastCheckpointId, planTotal: 1 });
    await over(desk, body.revertId);
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'executed' });
  });

  it('by default goes back behind checkpoints that were taken while killed', async () => {
    const desk = await newDesk();
    const checkpointId = await checkpoint(desk);
    await carryOut(desk, runner, [PACKETS.document]);
    await desk.kill();
    // Whoever may take a checkpoint, an operator, must not be able to empty the revert of an admin.
    await checkpoint(desk);
    expect((await compensate(desk, { dryRun: true })).body).toMatchObject({ checkpointId, planTotal: 1 });
    await test.rows('update guardians set kill_checkpoint_id = null where workspace_id = $1', [
      desk.workspaceId,
    ]);
    expect((await compensate(desk, { dryRun: true })).body).toMatchObject({ checkpointId, planTotal: 1 });
  });
});

describe('while a revert undoes work', () => {
  /** A desk with so many documents that are being withdrawn, and a lock that keeps the first from it. */
  async function held(count: number, given?: Awaited<ReturnType<typeof newDesk>>) {
    const desk = given ?? (await newDesk());
    const checkpointId = await checkpoint(desk);
    const directiveIds: string[] = [];
    for (let n = 0; n < count; n++) directiveIds.push(await carryOut(desk, runner, [PACKETS.document]));
    await desk.kill();
    const connection = await test.database.owner.connect();
    await connection.query('begin');
    await connection.query('select from documents where workspace_id = $1 for update', [desk.workspaceId]);
    const { revertId } = (await compensate(desk)).body;
    const letGo = async () => {
      await connection.query('rollback');
      connection.release();
    };
    return { desk, revertId, checkpointId, directiveIds, letGo };
  }

  it('a second kill stops it; reverted again it goes on where it was, each once', async () => {
    const { desk, revertId, directiveIds, letGo } = await held(4);
    const stop = desk.kill('stop that, too');
    await letGo();
    const { body } = await stop;
    expect(body).toMatchObject({ mode: 'killed', changed: true, epoch: 2 });
    const stopped = await read(desk, revertId);
    expect(stopped.status).toBe('stopped');
    expect(stopped.counts.planned).toBeGreaterThan(0);

    const { body: preview } = await compensate(desk, { dryRun: true });
    expect(preview).toMatchObject({ status: 'planned', revertId: null, planTotal: 4 });
    const steps = stopped.steps.items.map(
      ({ workPacketId, status }: { workPacketId: string; status: string }) => ({ workPacketId, status }),
    );
    expect(preview.plan).toMatchObject(steps);
    const again = await compensate(desk);
    expect(again.body).toMatchObject({ revertId, planTotal: 4 });
    expect((await over(desk, revertId)).counts).toMatchObject({ done: 4 });
    expect(await guardian(desk)).toMatchObject({ mode: 'guardrailed', epoch: 2 });
    for (const id of directiveIds) expect(await desk.directive(id)).toMatchObject({ status: 'reverted' });
    expect(await receipts(desk.workspaceId, 'packet.reverted')).toHaveLength(4);
    expect(await receipts(desk.workspaceId, 'document.withdrawn')).toHaveLength(4);
  });

  it('a second kill stops it; the plan for an earlier checkpoint has what it had not undone', async () => {
    const desk = await newDesk();
    const earlier = await checkpoint(desk);
    const { revertId, directiveIds, letGo } = await held(3, desk);
    const stop = desk.kill();
    await letGo();
    await stop;
    const { counts } = await read(desk, revertId);
    expect(counts.planned).toBeGreaterThan(0);
    const { body: preview } = await compensate(desk, { checkpointId: earlier, dryRun: true });
    expect(preview).toMatchObject({ checkpointId: earlier, planTotal: counts.planned });
    const { body } = await compensate(desk, { checkpointId: earlier });
    expect(body.revertId).not.toBe(revertId);
    expect(body.plan).toEqual(preview.plan);
    await over(desk, body.revertId);
    for (const id of directiveIds) expect(await desk.directive(id)).toMatchObject({ status: 'reverted' });
    expect(await receipts(desk.workspaceId, 'document.withdrawn')).toHaveLength(3);
  });

  it('a second kill and a resume leave the rest as it is, and say so', async () => {
    const { desk, revertId, letGo } = await held(3);
    const stop = desk.kill();
    await letGo();
    await stop;
    await desk.revert();
    expect(await guardian(desk)).toMatchObject({ mode: 'guardrailed' });
    const { status, counts } = await read(desk, revertId);
    expect(status).toBe('stopped');
    expect(counts.planned).toBe(0);
    expect(counts.done + counts.skipped).toBe(3);
    // What was left can be undone by another.
    await desk.kill();
    const all = (await desk.client.get('/guardian/checkpoint?limit=100')).body.items;
    const { body } = await compensate(desk, { checkpointId: all.at(-1).checkpointId });
    expect(body.planTotal).toBe(counts.skipped);
    await eventually(
      () => guardian(desk),
      ({ mode }) => mode === 'guardrailed',
    );
    expect(await receipts(desk.workspaceId, 'document.withdrawn')).toHaveLength(3);
  });
});

describe('GET /guardian/reverts/{revertId}', () => {
  it('403 for an operator, 404 for another workspace and for what is no id', async () => {
    const desk = await newDesk();
    await checkpoint(desk);
    const { revertId } = (await compensate(desk)).body;
    const operator = await test.createMember(desk.workspaceId, 'operator');
    expect((await operator.get(`/guardian/reverts/${revertId}`)).status).toBe(403);
    const { owner } = await test.createWorkspace();
    for (const id of [revertId, newId('rvt'), 'x']) {
      expect((await owner.get(`/guardian/reverts/${id}`)).status).toBe(404);
    }
  });
});

describe('POST /guardian/revert with the epoch that was seen', () => {
  it.each(['resume', 'restore', 'compensate'])(
    '%s: 409 after another kill, and that one holds',
    async (mode) => {
      const desk = await newDesk();
      await desk.client.post('/guardian/checkpoint');
      const { epoch } = (await desk.kill('Mine')).body;
      await desk.revert();
      await desk.kill('Of somebody else');
      for (const dryRun of [true, false]) {
        const refused = await desk.client.post('/guardian/revert', { mode, epoch, dryRun });
        expect([refused.status, refused.body.error?.code], refused.text).toEqual([409, 'INVALID_TRANSITION']);
        expect(refused.body.error.details).toEqual({ mode: 'killed', epoch: epoch + 1 });
      }
      expect(await guardian(desk)).toMatchObject({
        mode: 'killed',
        epoch: epoch + 1,
        reason: 'Of somebody else',
      });
      const reverted = await desk.client.post('/guardian/revert', { mode, epoch: epoch + 1 });
      expect(reverted.status, reverted.text).toBe(200);
    },
  );
});

describe('POST /guardian/revert refuses', () => {
  it.each([
    [{ mode: 'undo' }, 422],
    [{ mode: 'resume', checkpointId: newId('chk') }, 422],
    [{ mode: 'compensate', checkpointId: 'chk_1' }, 422],
    [{ mode: 'compensate', checkpointId: newId('chk') }, 404],
    [{ mode: 'restore', checkpointId: newId('chk') }, 404],
    [{ mode: 'compensate' }, 422],
    [{ mode: 'restore' }, 422],
    [{ mode: 'compensate', dryRun: 'yes' }, 422],
    [{ epoch: '0' }, 422],
  ])('%j with %i, and nothing is changed', async (body, status) => {
    const desk = await newDesk();
    const answer = await desk.client.post('/guardian/revert', body);
    expect(answer.status, answer.text).toBe(status);
    expect(await guardian(desk)).toMatchObject({ mode: 'guardrailed', epoch: 0 });
  });
});
