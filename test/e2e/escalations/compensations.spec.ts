import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ScriptedRunner } from '../../support/scripted-runner.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { expectUnbroken } from '../directives/desk.js';
import { carryOut, PACKETS } from '../guardian/carried-out.js';
import { EscalationDesk } from './escalation-desk.js';

/** What a person is asked when a revert could not undo something. */
let test: TestApp;
let runner: ScriptedRunner;
let desk: EscalationDesk;
beforeAll(async () => {
  test = await startTestApp();
  runner = new ScriptedRunner(test);
});
afterAll(() => test.close());
beforeEach(async () => {
  desk = await EscalationDesk.ofOwn(test);
});

const setCompensation = (table: string, workPacketId: string, type: string) =>
  test.rows(
    `update ${table} set compensation = jsonb_set(compensation, '{type}', to_jsonb($2::text)) where work_packet_id = $1`,
    [workPacketId, type],
  );

/** A document whose withdrawal nothing here carries out, and the escalation of the revert that failed on it. */
async function notUndone() {
  const { checkpointId } = (await desk.client.post('/guardian/checkpoint')).body;
  const directiveId = await carryOut(desk, runner, [PACKETS.document]);
  const [{ workPacketId }] = await desk.packets(directiveId);
  await setCompensation('work_packets', workPacketId, 'nobody.knows');
  const answer = await desk.client.post('/guardian/revert', { mode: 'compensate', checkpointId });
  expect(answer.status, answer.text).toBe(200);
  const escalation = await desk.opened(workPacketId, 'compensation_failed');
  await eventually(
    async () => (await desk.client.get('/guardian')).body.mode,
    (mode) => mode === 'guardrailed',
  );
  return { directiveId, workPacketId, escalation };
}

const documents = async () => (await desk.client.get('/documents')).body.total;

describe('a work packet that a revert could not undo', () => {
  it('is escalated with the reason', async () => {
    const { directiveId, workPacketId, escalation } = await notUndone();
    expect(await desk.escalation(escalation.id)).toMatchObject({
      entity: { type: 'work_packet', id: workPacketId },
      directiveId,
      reason: expect.stringContaining('Nothing here carries out nobody.knows'),
      options: ['retry', 'done_by_hand', 'dismiss'],
    });
    expect(await documents()).toBe(1);
  });

  it('is undone by retry, once the cause is gone', async () => {
    const { directiveId, workPacketId, escalation } = await notUndone();
    await setCompensation('revert_steps', workPacketId, 'document.withdraw');
    await desk.decided(escalation.id, 'retry');
    expectUnbroken(await desk.until(directiveId, 'reverted'));
    expect(await documents()).toBe(0);
    expect((await desk.receipts(workPacketId)).map(({ action }) => action).slice(-2)).toEqual([
      'packet.revert_retried',
      'packet.reverted',
    ]);
    expect(
      await test.rows('select status from revert_steps where work_packet_id = $1', [workPacketId]),
    ).toEqual([{ status: 'done' }]);
    expect((await desk.client.get('/guardian')).body.mode).toBe('guardrailed');
  });

  it('is escalated again when the retry fails as well', async () => {
    const { workPacketId, escalation } = await notUndone();
    await desk.decided(escalation.id, 'retry');
    const { id } = await desk.opened(workPacketId, 'compensation_failed');
    expect(id).not.toBe(escalation.id);
    expect(await documents()).toBe(1);
  });

  it('is reverted once an admin has undone it by hand', async () => {
    const { directiveId, workPacketId, escalation } = await notUndone();
    const operator = await desk.member('operator');
    expect((await operator.decide(escalation.id, 'done_by_hand')).status).toBe(403);
    await desk.decided(escalation.id, 'done_by_hand', 'I deleted it.');
    expectUnbroken(await desk.until(directiveId, 'reverted'));
    expect((await desk.receipts(workPacketId)).at(-1)).toMatchObject({
      action: 'packet.reverted',
      actor: { type: 'member' },
      details: { byHand: true, note: 'I deleted it.' },
    });
    // It was not touched here.
    expect(await documents()).toBe(1);
    expect((await desk.decide(escalation.id, 'retry')).status).toBe(409);
  });

  it('is not tried again while killed: 423', async () => {
    const { workPacketId, escalation } = await notUndone();
    await desk.kill();
    expect((await desk.decide(escalation.id, 'retry')).status).toBe(423);
    expect(
      await test.rows('select status from revert_steps where work_packet_id = $1', [workPacketId]),
    ).toEqual([{ status: 'failed' }]);
  });

  it('stays as it is when it is dismissed', async () => {
    const { directiveId, escalation } = await notUndone();
    await desk.decided(escalation.id, 'dismiss');
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'executed' });
  });
});
