import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Compensations } from '../../../src/features/directives/packets/compensations.js';
import { EffectFailed } from '../../../src/features/directives/packets/packet-effect.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { queueWork } from './queued-work.js';
import type { Undo } from '../../../src/features/directives/packets/undo.js';

type Outside = Extract<Undo, { kind: 'outside' }>;

let test: TestApp;
/** What the undo outside does with a work packet; it notes each call by itself. */
let undo: Outside['run'];
let repeatable: boolean;
let calls: string[];
beforeAll(async () => {
  test = await startTestApp();
  test.app.get(Compensations).declare('test.undo', () => ({
    kind: 'outside',
    repeatable,
    run: (packet, signal) => {
      calls.push(packet.workPacketId);
      return undo(packet, signal);
    },
  }));
});
afterAll(() => test.close());
afterEach(async () => {
  const { mode } = (await new Desk(test).client.get('/guardian')).body;
  if (mode === 'recovering') await new Desk(test).kill();
  if (mode !== 'guardrailed') await new Desk(test).revert();
});

/** Documents that were filed since the checkpoint that it answers, each undone by something outside. */
async function filed(count: number): Promise<{ desk: Desk; checkpointId: string; workPacketIds: string[] }> {
  calls = [];
  repeatable = true;
  undo = () => Promise.resolve({});
  const desk = new Desk(test);
  const { checkpointId } = (await desk.client.post('/guardian/checkpoint')).body;
  const packets = await queueWork(test, { directives: count, packetsEach: 1, types: ['document.file'] });
  for (const { directiveId } of packets) await desk.until(directiveId, 'executed');
  await test.rows(
    `update work_packets set compensation = '{"type": "test.undo", "params": {"id": 7}}' where work_packet_id = any($1)`,
    [packets.map(({ workPacketId }) => workPacketId)],
  );
  await desk.kill();
  return { desk, checkpointId, workPacketIds: packets.map(({ workPacketId }) => workPacketId) };
}

async function compensate(desk: Desk, checkpointId: string): Promise<string> {
  const { status, body, text } = await desk.client.post('/guardian/revert', {
    mode: 'compensate',
    checkpointId,
  });
  expect(status, text).toBe(200);
  return body.revertId;
}

const read = async (desk: Desk, revertId: string) =>
  (await desk.client.get(`/guardian/reverts/${revertId}`)).body;
const until = (desk: Desk, revertId: string, wanted: string) =>
  eventually(
    () => read(desk, revertId),
    ({ status }) => status === wanted,
    20,
  );

/** An undo that does not end before it is let go, or aborted. */
function hold(): { begun: Promise<void>; letGo: () => void } {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Record<string, unknown>>();
  undo = (_packet, signal) => {
    begun.resolve();
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new EffectFailed('ABORTED', 'It was called off.', true)));
    });
    return Promise.race([ended.promise, aborted]);
  };
  return { begun: begun.promise, letGo: () => ended.resolve({ late: true }) };
}

describe('an undo outside', () => {
  it('is called once for each, with the parameters of the compensation, and its answer is kept', async () => {
    const { desk, checkpointId, workPacketIds } = await filed(3);
    const seen: unknown[] = [];
    undo = ({ params, by }) => {
      seen.push([params, by.type]);
      return Promise.resolve({ undone: true });
    };
    const revertId = await compensate(desk, checkpointId);
    const { counts, steps } = await until(desk, revertId, 'done');
    expect(counts).toMatchObject({ done: 3, failed: 0 });
    expect(steps.items[0]).toMatchObject({ status: 'done', result: { undone: true }, attempts: 1 });
    expect(calls.toSorted()).toEqual(workPacketIds.toSorted());
    expect(calls).toEqual(steps.items.map((step: { workPacketId: string }) => step.workPacketId));
    expect(seen).toEqual(Array.from({ length: 3 }, () => [{ id: 7 }, 'member']));
  });

  it('is tried again when another try may succeed', async () => {
    const { desk, checkpointId } = await filed(1);
    undo = () => {
      if (calls.length === 1) throw new EffectFailed('BUSY', 'The service is busy.', true);
      return Promise.resolve({});
    };
    const revertId = await compensate(desk, checkpointId);
    const { steps } = await until(desk, revertId, 'done');
    expect(steps.items).toMatchObject([{ status: 'done', reason: null, attempts: 2 }]);
  });

  it.each([
    [
      'that says why',
      new EffectFailed('REFUSED', 'The service refused it.', false),
      'The service refused it.',
    ],
    ['that nobody foresaw', new Error('socket hang up'), 'not known whether'],
  ])(
    'that fails in a way %s is brought to a person, and the revert goes on',
    async (_how, error, message) => {
      const { desk, checkpointId, workPacketIds } = await filed(2);
      const failing = workPacketIds[1]!;
      undo = ({ workPacketId }) => {
        if (workPacketId === failing) throw error;
        return Promise.resolve({});
      };
      const revertId = await compensate(desk, checkpointId);
      const { counts, steps } = await until(desk, revertId, 'done');
      expect(counts).toMatchObject({ done: 1, failed: 1 });
      const failed = steps.items.find((step: { workPacketId: string }) => step.workPacketId === failing);
      expect(failed).toMatchObject({
        status: 'failed',
        reason: expect.stringContaining(message),
        attempts: 1,
      });
      expect(calls.filter((id) => id === failing)).toHaveLength(1);
      const { status, directiveId } = (await desk.client.get(`/work-packets/${failing}`)).body;
      expect([status, (await desk.directive(directiveId)).status]).toEqual(['executed', 'executed']);
      const signals = await test.rows(`select severity, title from signals where entity->>'id' = $1`, [
        failing,
      ]);
      expect(signals).toEqual([{ severity: 'critical', title: 'Not undone: As agreed' }]);
      const [receipt] = await test.rows<{ body: string }>('select body from receipts where receipt_id = $1', [
        failed.receiptId,
      ]);
      expect(JSON.parse(receipt!.body)).toMatchObject({ action: 'packet.not_reverted', outcome: 'failure' });
      // Another revert tries it again.
      undo = () => Promise.resolve({});
      await desk.kill();
      const again = await compensate(desk, checkpointId);
      expect((await until(desk, again, 'done')).counts).toMatchObject({ done: 1, failed: 0 });
    },
  );

  it('is aborted by a second kill, and done when somebody reverts again', async () => {
    const { desk, checkpointId, workPacketIds } = await filed(2);
    const { begun } = hold();
    const revertId = await compensate(desk, checkpointId);
    await begun;
    await desk.kill();
    const { counts } = await eventually(
      () => read(desk, revertId),
      ({ status, steps }) =>
        status === 'stopped' &&
        steps.items.every((step: { reason: string | null }, n: number) => n > 0 || step.reason),
    );
    expect(counts).toMatchObject({ planned: 2, done: 0 });
    undo = () => Promise.resolve({});
    expect(await compensate(desk, checkpointId)).toBe(revertId);
    expect((await until(desk, revertId, 'done')).counts).toMatchObject({ done: 2 });
    expect(new Set(calls)).toEqual(new Set(workPacketIds));
  });

  it.each([
    [true, 'done'],
    [false, 'failed'],
  ])('whose process ended while it was under way, repeatable: %s, is %s', async (isRepeatable, outcome) => {
    const { desk, checkpointId, workPacketIds } = await filed(1);
    repeatable = isRepeatable;
    const revertId = await compensate(desk, checkpointId);
    await until(desk, revertId, 'done');
    // As the process left it that was killed between the call and its record.
    await test.rows(
      `update revert_steps set status = 'planned', begun_at = now(), ended_at = null where revert_id = $1`,
      [revertId],
    );
    await test.rows(`update work_packets set status = 'executed' where work_packet_id = any($1)`, [
      workPacketIds,
    ]);
    await test.rows(
      `update directives set status = 'executed' where directive_id in (select directive_id from work_packets where work_packet_id = any($1))`,
      [workPacketIds],
    );
    await test.rows(`update reverts set status = 'running', ended_at = null where revert_id = $1`, [
      revertId,
    ]);
    await desk.kill();
    expect(await compensate(desk, checkpointId)).toBe(revertId);
    const { steps } = await until(desk, revertId, 'done');
    expect(steps.items).toMatchObject([{ status: outcome }]);
    expect(calls).toHaveLength(isRepeatable ? 2 : 1);
  });
});

describe('while a revert undoes work', () => {
  it('the guardian is recovering: nothing is approved, no mode is set, no other revert begins', async () => {
    const { desk, checkpointId } = await filed(1);
    const { begun, letGo } = hold();
    const revertId = await compensate(desk, checkpointId);
    await begun;
    expect((await desk.client.get('/guardian')).body).toMatchObject({ mode: 'recovering', killedAt: null });
    const { approvalId } = await desk.handIn();
    expect((await desk.approve(approvalId)).status).toBe(423);
    expect((await desk.approval(approvalId)).waitingFor).toMatchObject({ reason: 'revert' });
    expect((await desk.client.put('/guardian/mode', { mode: 'autonomous' })).status).toBe(423);
    for (const mode of ['resume', 'restore', 'compensate']) {
      const refused = await desk.client.post('/guardian/revert', { mode });
      expect(refused.status).toBe(409);
      expect(refused.body.error).toMatchObject({
        code: 'INVALID_TRANSITION',
        details: { mode: 'recovering' },
      });
    }
    const { agents } = (await desk.client.get('/agents')).body;
    expect(agents[0]).toMatchObject({ status: 'halted', statusReason: 'A revert is undoing work packets.' });
    letGo();
    await until(desk, revertId, 'done');
    await desk.ready(approvalId);
  });
});
