import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { leaveActionRequest } from '../action-requests/action-request-rows.js';
import { StreamReader } from '../audit/stream-reader.js';
import { Desk, DOCUMENT } from '../directives/desk.js';
import { SECRET } from './delivery-desk.js';

let test: TestApp;
let receiver: EventReceiver;
let admin: TestMember;
let agent: Client;
let agentToken: { tokenId: string };
let desk: Desk;
let stream: StreamReader;

beforeAll(async () => {
  receiver = await startEventReceiver();
  test = await startTestApp({ OUTBOUND_ALLOW: receiver.hostPort });
  admin = await test.createMember(test.workspaceId, 'admin');
  desk = new Desk(test, admin.token);
  const events = ['approval.decided', 'action.completed'];
  const registered = await admin.post('/webhooks', { events, url: receiver.url, secret: SECRET });
  expect(registered.status, registered.text).toBe(201);
  const made = await admin.post('/tokens', {
    name: 'Events',
    agent: { name: 'Refund agent' },
    tools: ['crm.*'],
  });
  agentToken = made.body;
  agent = new Client(test.url, made.body.token);
  stream = await StreamReader.open(admin);
});
afterAll(async () => {
  stream?.close();
  await test.close();
  await receiver.close();
});

/** The payloads that have arrived about this id, each with a valid signature. */
const received = (id: string) =>
  receiver.received
    .filter(({ body }) => body.includes(`"${id}"`))
    .map(({ body, headers }) => new Webhook(SECRET).verify(body, headers as Record<string, string>) as any);

/** The one event about this id; the stream has told its receipt in a sentence. */
async function told(event: string, id: string) {
  const arrived = await eventually(
    async () => received(id),
    ({ length }) => length > 0,
  );
  expect(arrived.map((one) => one.event)).toEqual([event]);
  const { payload } = arrived[0];
  const [receipt] = await test.rows<{ seq: string; body: string }>(
    `select seq, body from receipts where body::jsonb->>'receiptId' = $1`,
    [payload.receiptId],
  );
  const item = await eventually(
    async () => stream.events.find(({ id: seq }) => seq === Number(receipt!.seq)),
    (found) => found !== undefined,
  );
  const { action, summary } = JSON.parse(receipt!.body);
  expect([item!.event, item!.data.text]).toEqual([action, summary]);
  return { payload, item: item! };
}

const PARAMS = { order: 'A-17', card: '4111-secret' };
const askFor = (tool = 'crm.refund') => leaveActionRequest(agent, { tool, params: PARAMS });
const by = { type: 'member', via: 'api' };

describe('approval.decided', () => {
  it.each([
    ['approved', 'approved', (id: string) => desk.approve(id), null],
    ['rejected', 'rejected', (id: string) => desk.reject(id, { feedback: 'No.' }), 'No.'],
    [
      'changed',
      'changes_requested',
      (id: string) => desk.reject(id, { feedback: 'Be kind.', revise: true }),
      'Be kind.',
    ],
  ])('tells once that what a directive drafted was %s', async (decision, status, decide, feedback) => {
    const { directiveId, approvalId, approval } = await desk.handInReady({
      text: DOCUMENT,
      capo: 'capo_ops',
    });
    const answer = await decide(approvalId);
    expect(answer.status, answer.text).toBe(200);
    const { payload } = await told('approval.decided', approvalId);
    expect(payload).toEqual({
      approvalId,
      kind: 'output',
      entityId: directiveId,
      title: approval.title,
      tool: null,
      agent: null,
      decision,
      status,
      contentHash: approval.contentHash,
      decidedBy: expect.objectContaining({ ...by, id: admin.memberId }),
      decidedAt: answer.body.decidedAt,
      feedback,
      receiptId: answer.body.receiptId,
      receiptHead: { seq: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });

  it('tells that a directive was cancelled', async () => {
    const { directiveId, approvalId } = await desk.handInReady({ text: DOCUMENT, capo: 'capo_ops' });
    expect((await desk.client.post(`/directives/${directiveId}/cancel`)).status).toBe(200);
    const { payload } = await told('approval.decided', approvalId);
    expect(payload).toMatchObject({ entityId: directiveId, decision: 'cancelled' });
  });

  it.each([
    ['approved', by, (id: string) => desk.approve(id)],
    ['rejected', by, (id: string) => desk.reject(id)],
    [
      'expired',
      { type: 'system' },
      (id: string) =>
        test.rows(`update approvals set expires_at = now() - interval '1 second' where approval_id = $1`, [
          id,
        ]),
    ],
    [
      'cancelled',
      { type: 'agent', name: 'Refund agent' },
      async (id: string) =>
        agent.post(`/action-requests/${(await desk.approval(id)).actionRequestId}/cancel`),
    ],
  ])(
    'tells once that what an agent asked for was %s, without its parameters',
    async (decision, decidedBy, act) => {
      const { actionRequestId, approvalId } = await askFor();
      const { contentHash } = await desk.approval(approvalId);
      await act(approvalId);
      const { payload, item } = await told('approval.decided', approvalId);
      expect(payload).toMatchObject({
        kind: 'action',
        entityId: actionRequestId,
        title: 'crm.refund',
        tool: 'crm.refund',
        agent: { tokenId: agentToken.tokenId, name: 'Refund agent' },
        decision,
        contentHash,
        decidedBy,
      });
      expect(JSON.stringify(payload)).not.toContain('4111-secret');
      expect(item.data.text).toContain('Refund agent');
    },
  );
});

describe('action.completed', () => {
  it.each(['succeeded', 'failed'])(
    'tells once that it %s; no permit and no parameters are sent',
    async (outcome) => {
      const { actionRequestId, approvalId, paramsHash } = await askFor(`crm.${outcome}`);
      await desk.approve(approvalId);
      await told('approval.decided', approvalId);
      receiver.received.length = 0;
      const attempt = newId('req').padEnd(30, 'x');
      const consumed = await agent.post(`/action-requests/${actionRequestId}/consume`, {
        attempt,
        paramsHash,
      });
      const result = { outcome, summary: 'Done with 4111-secret.', output: { card: '4111-secret' } };
      const reported = await agent.post(`/action-requests/${actionRequestId}/result`, result);
      expect((await agent.post(`/action-requests/${actionRequestId}/result`, result)).status).toBe(200);
      const { payload } = await told('action.completed', actionRequestId);
      expect(payload).toMatchObject({
        actionRequestId,
        tool: `crm.${outcome}`,
        paramsHash,
        agent: { tokenId: agentToken.tokenId, name: 'Refund agent' },
        outcome,
        receiptId: reported.body.receiptId,
      });
      const bodies = receiver.received.map(({ body }) => body.toString()).join();
      expect(bodies).not.toContain('4111-secret');
      expect(bodies).not.toContain(consumed.body.permit);
    },
  );
});
