import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';

let test: TestApp;
let desk: Desk;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'all' });
  desk = new Desk(test);
});
afterAll(() => test.close());

const MAIL = { to: ['joe@acme.example'], subject: 'Order 17', body: 'It ships on Thursday.' };

/** An approval that somebody has edited, and the content hash of what was read before. */
async function edited() {
  const { approvalId, approval } = await desk.handInReady();
  const [{ workPacketId }] = approval.packets;
  const edit = { packets: [{ workPacketId, params: MAIL }] };
  const answer = await desk.client.send('PATCH', `/approvals/${approvalId}`, edit, {
    'If-Match': approval.contentHash,
  });
  expect(answer.status, answer.text).toBe(200);
  return { approvalId, read: approval.contentHash as string, now: answer.body.contentHash as string };
}

const CHANGED = { error: { code: 'CONTENT_CHANGED', status: 412 } };

describe('POST /approvals with what was read', () => {
  it('decides one only if it is still that', async () => {
    const { approvalId, read, now } = await edited();
    const decision = { approvalId, decision: 'approve' };
    for (const answer of [
      await desk.client.post('/approvals', decision, { 'If-Match': `"${read}"` }),
      await desk.client.post('/approvals', { ...decision, contentHash: read }),
    ]) {
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.results).toMatchObject([{ approvalId, ...CHANGED }]);
    }
    expect((await desk.approval(approvalId)).status).toBe('pending');
    const { body } = await desk.client.post('/approvals', { ...decision, contentHash: now });
    expect(body.results).toMatchObject([{ approvalId, status: 'approved' }]);
  });

  it('decides of many each by its own hash', async () => {
    const [stale, current] = [await edited(), await edited()];
    const { body } = await desk.client.post('/approvals', {
      decisions: [
        { approvalId: stale.approvalId, decision: 'approve', contentHash: stale.read },
        { approvalId: current.approvalId, decision: 'approve', contentHash: current.now },
      ],
    });
    expect(body.results).toMatchObject([
      { approvalId: stale.approvalId, ...CHANGED },
      { approvalId: current.approvalId, status: 'approved' },
    ]);
  });

  it('refuses one header for a list, and what is no decision', async () => {
    const { approvalId, now } = await edited();
    const decisions = [{ approvalId, decision: 'approve' }];
    for (const answer of [
      await desk.client.post('/approvals', { decisions }, { 'If-Match': now }),
      await desk.client.post('/approvals', { decisions: [[]] }),
      await desk.client.post('/approvals', { decisions: [null] }),
      await desk.client.post('/approvals', { approvalId, decision: 'approve', contentHash: 'x' }),
    ]) {
      expect(answer.status, answer.text).toBe(422);
    }
    expect((await desk.approval(approvalId)).status).toBe('pending');
  });

  it.each([[[[]]], [[[[]]]], [[null]], [['x']]])(
    'PATCH refuses %j as work packets to add or to edit',
    async (list) => {
      const { approvalId, now } = await edited();
      for (const body of [{ add: list }, { packets: list }]) {
        const answer = await desk.client.send('PATCH', `/approvals/${approvalId}`, body, { 'If-Match': now });
        expect(answer.status, answer.text).toBe(422);
      }
    },
  );
});

describe('the kill switch under a key that was used before', () => {
  it('is engaged again: an answer from before is not what is so now', async () => {
    const { owner } = await test.createWorkspace();
    const other = new Desk(test, owner.token);
    const key = { 'Idempotency-Key': 'stop' };
    expect((await other.client.post('/guardian/kill-switch', {}, key)).body).toMatchObject({ changed: true });
    await other.revert();
    expect((await other.client.post('/guardian/kill-switch', {}, key)).body).toMatchObject({ changed: true });
    expect((await other.client.get('/guardian')).body.mode).toBe('killed');
  });
});
