import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { PostEvent } from '../../../src/features/webhooks/index.js';
import { verifyEvent } from '../../../src/platform/signatures/verify-event.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { draftPacket, ScriptedRunner } from '../../support/scripted-runner.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { OrderDesk } from '../standing-orders/order-desk.js';

type Answer = NonNullable<Parameters<typeof startEventReceiver>[0]>;
const well: Answer = (_received, response) => response.end('thanks');

let test: TestApp;
let receiver: EventReceiver;
let runner: ScriptedRunner;
let answer: Answer;
let destinationId: string;
let secret: string;
const DATA = { order: 42, text: 'Grüße \u2028 🎩', lines: [{ sku: 'A-1', count: 2 }] };

beforeAll(async () => {
  receiver = await startEventReceiver((...args) => answer(...args));
  test = await startTestApp({ OUTBOUND_ALLOW: receiver.hostPort });
  runner = new ScriptedRunner(test);
});
afterAll(async () => {
  await test.close();
  await receiver.close();
});
beforeEach(async () => {
  answer = well;
  receiver.received.length = 0;
  ({ destinationId, secret } = await register());
});

async function register(): Promise<{ destinationId: string; secret: string }> {
  const { status, body, text } = await new Desk(test).client.post('/partner/webhooks', {
    description: 'ERP of Acme',
    url: `${receiver.url}?key=topsecret`,
    events: ['report.daily'],
  });
  expect(status, text).toBe(201);
  return body;
}

const post = (params: object = { destinationId, data: DATA }) =>
  draftPacket({ type: 'webhook.post', params: { ...params } });

async function drafted(packet = post(), capo = 'capo_ops') {
  const text = `Post number ${Math.random()}`;
  runner.answer(text, { packets: [packet] });
  return new Desk(test).handInReady({ text, capo });
}

async function approved(packet = post()) {
  const { directiveId, approvalId, approval } = await drafted(packet);
  expect((await new Desk(test).approve(approvalId)).status).toBe(200);
  return { directiveId, workPacketId: approval.packets[0].workPacketId as string };
}

async function packetOf(directiveId: string, status: string) {
  await new Desk(test).until(directiveId, status, 20);
  return (await new Desk(test).packets(directiveId))[0]!;
}

const fault = async (directiveId: string) => (await packetOf(directiveId, 'failed')).result.error;

describe('the eval of a posted event', () => {
  it('finds it sound, until its destination is gone', async () => {
    const { approval } = await drafted();
    const { client } = new Desk(test);
    const { workPacketId } = approval.packets[0];
    const run = async () =>
      (
        await client.post('/evals/run', {
          name: 'Check',
          targetEntityType: 'workflow_candidate',
          targetEntityId: workPacketId,
        })
      ).body;
    expect(await run()).toMatchObject({ passed: true, score: 1, findings: [] });
    expect((await client.delete(`/partner/webhooks/${destinationId}`)).status).toBe(200);
    expect(await run()).toMatchObject({
      passed: false,
      findings: [{ ruleId: 'packet.params', path: 'action.params.destinationId' }],
    });
  });
});

describe('an event that a person approved', () => {
  it('arrives once, signed as every event, and says what was shown', async () => {
    const { approval, approvalId, directiveId } = await drafted();
    expect(approval).toMatchObject({ reversibility: 'irreversible', risk: 'medium' });
    expect(approval.packets[0].action).toEqual({
      type: 'webhook.post',
      target: 'ERP of Acme',
      // Whoever decides sees where it goes.
      params: {
        destinationId,
        destination: expect.stringMatching(/^ERP of Acme \(http:.*\/events\?[0-9a-f]{8}\)$/),
        data: DATA,
      },
    });
    expect(approval.summary).toBe('An event for the webhook destination "ERP of Acme".');
    // The query of an address may hold a credential.
    expect(JSON.stringify(approval)).not.toContain('topsecret');
    expect((await new Desk(test).approve(approvalId)).status).toBe(200);
    const packet = await packetOf(directiveId, 'executed');

    const [received, ...others] = receiver.received;
    expect(others).toEqual([]);
    const body = received!.body.toString();
    const { workPacketId } = approval.packets[0];
    expect(JSON.parse(body)).toEqual({
      event: 'work_packet.posted',
      timestamp: expect.any(Number),
      workspaceId: test.workspaceId,
      payload: {
        workPacketId,
        directiveId,
        capo: 'capo_ops',
        data: DATA,
        receiptHead: { seq: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    });
    expect(received!.path).toBe('/events?key=topsecret');
    expect(received!.headers).toMatchObject({
      'x-service-event': 'work_packet.posted',
      'x-service-requestid': expect.stringMatching(/^req_/),
      'content-type': 'application/json',
      'webhook-id': workPacketId.replace('pkt_', 'evt_'),
    });
    new Webhook(secret).verify(received!.body, received!.headers as Record<string, string>);
    const header = received!.headers['x-service-signature'] as string;
    expect(verifyEvent({ header, body: received!.body, secret, now: test.clock.now() })).toBe(true);
    expect(packet).toMatchObject({
      status: 'executed',
      compensation: null,
      result: { status: 200, answer: 'thanks', eventId: received!.eventId },
    });
    // It is no delivery: whatever becomes of it says nothing about the health of the destination.
    expect(
      await test.rows('select 1 from webhook_deliveries where destination_id = $1', [destinationId]),
    ).toEqual([]);
    const head = JSON.parse(body).payload.receiptHead;
    expect(
      await test.rows('select 1 from receipts where seq = $1 and hash = $2', [head.seq, head.hash]),
    ).toHaveLength(1);
  });

  it('is sent again with the same bytes and id when the receiver refuses it, and then counts once', async () => {
    answer = (received, response, count) => {
      if (count > 1) return well(received, response, count);
      response.statusCode = 500;
      response.end();
    };
    const { directiveId } = await approved();
    expect(await packetOf(directiveId, 'executed')).toMatchObject({ attempts: 2 });
    const [first, second] = receiver.received;
    expect(receiver.received).toHaveLength(2);
    expect(second!.body).toEqual(first!.body);
    expect(second!.eventId).toBe(first!.eventId);
    new Webhook(secret).verify(second!.body, second!.headers as Record<string, string>);
  });

  it('is signed with both secrets while a rotation overlaps', async () => {
    const rotated = await new Desk(test).client.post(`/partner/webhooks/${destinationId}/rotate-secret`);
    expect(rotated.status).toBe(200);
    await packetOf((await approved()).directiveId, 'executed');
    const [received] = receiver.received;
    for (const each of [secret, rotated.body.secret as string])
      new Webhook(each).verify(received!.body, received!.headers as Record<string, string>);
  });
});

describe('a receiver that misbehaves', () => {
  it.each<[string, Answer]>([
    ['breaks the connection off', (_received, response) => response.destroy()],
    [
      'breaks off within its answer',
      (_received, response) => {
        response.writeHead(200, { 'Content-Length': '100' });
        response.write('half', () => response.destroy());
      },
    ],
  ])('%s: what may have arrived is not sent again, and a person hears of it', async (_how, behave) => {
    answer = behave;
    const { directiveId, workPacketId } = await approved();
    expect(await fault(directiveId)).toMatchObject({ code: 'WEBHOOK_UNCONFIRMED' });
    expect(receiver.received).toHaveLength(1);
    const signals = await test.rows(`select severity from signals where entity->>'id' = $1`, [workPacketId]);
    expect(signals).toEqual([{ severity: 'critical' }]);
  });

  it('never answers: the same, after 10 s', { timeout: 30_000 }, async () => {
    answer = () => undefined;
    const { directiveId } = await approved();
    expect(await fault(directiveId)).toMatchObject({ code: 'WEBHOOK_UNCONFIRMED' });
    expect(receiver.received).toHaveLength(1);
  });

  it.each([301, 307, 400, 401, 404, 410])('answers %i: it is not sent again', async (status) => {
    answer = (_received, response) => {
      response.writeHead(status, { Location: `${test.url}/api/pro/guardian/kill-switch` });
      response.end();
    };
    const { directiveId } = await approved();
    expect(await fault(directiveId)).toMatchObject({ code: 'WEBHOOK_REFUSED' });
    expect(receiver.received).toHaveLength(1);
  });

  it('answers 20 MB: 2 KiB are kept', async () => {
    answer = (_received, response) => response.end('x'.repeat(20_000_000));
    const packet = await packetOf((await approved()).directiveId, 'executed');
    expect(packet.result.answer).toBe('x'.repeat(2_048));
  });
});

describe('between the approval and the sending', () => {
  it('a destination that was deleted gets nothing', async () => {
    const { approvalId, directiveId } = await drafted();
    expect((await new Desk(test).client.delete(`/partner/webhooks/${destinationId}`)).status).toBe(200);
    expect((await new Desk(test).approve(approvalId)).status).toBe(200);
    expect(await fault(directiveId)).toMatchObject({ code: 'NOT_AVAILABLE' });
    expect(receiver.received).toEqual([]);
  });

  it.each([
    ['path', () => receiver.url.replace('/events', '/elsewhere')],
    ['query', () => `${receiver.url}?key=of-a-stranger`],
  ])('a destination whose %s was changed gets nothing', async (_part, url) => {
    const { approvalId, directiveId } = await drafted();
    const moved = await new Desk(test).client.send('PATCH', `/webhooks/${destinationId}`, { url: url() });
    expect(moved.status, moved.text).toBe(200);
    await new Desk(test).approve(approvalId);
    expect(await fault(directiveId)).toMatchObject({ code: 'CONTENT_CHANGED' });
    expect(receiver.received).toEqual([]);
  });
});

describe('between the check and the call', () => {
  it('a destination whose address is changed gets nothing, at either address', async () => {
    const posts = test.app.get(PostEvent, { strict: false });
    const execute = posts.execute.bind(posts);
    const moves = vi.spyOn(posts, 'execute').mockImplementationOnce(async (...args) => {
      const url = receiver.url.replace('/events', '/elsewhere');
      expect((await new Desk(test).client.send('PATCH', `/webhooks/${destinationId}`, { url })).status).toBe(
        200,
      );
      return execute(...args);
    });
    const { directiveId } = await approved();
    expect(await fault(directiveId)).toMatchObject({ code: 'CONTENT_CHANGED' });
    expect(moves).toHaveBeenCalledOnce();
    expect(receiver.received).toEqual([]);
    moves.mockRestore();
  });
});

describe('a standing order that names the host', () => {
  it('denies what goes there, though the work packet names its destination without it', async () => {
    const orders = new OrderDesk(test);
    const standingOrderId = await orders.active({
      name: 'Nothing to this receiver',
      effect: 'deny',
      match: {
        actionTypes: ['webhook.post'],
        fields: { target: { $prefix: `ERP of Acme (http://${receiver.hostPort}` } },
      },
    });
    const text = `Post number ${Math.random()}`;
    runner.answer(text, { packets: [post()] });
    const { directiveId } = await new Desk(test).handIn({ text, capo: 'capo_ops' });
    expect((await new Desk(test).until(directiveId, 'failed')).error).toMatchObject({
      code: 'POLICY_DENIED',
    });
    expect((await new Desk(test).packets(directiveId))[0]).toMatchObject({
      action: { target: 'ERP of Acme' },
    });
    expect((await new Desk(test).client.delete(`/standing-orders/${standingOrderId}`)).status).toBe(200);
  });
});

describe('the kill switch during a post', () => {
  it('leaves it unconfirmed: it may have arrived', async () => {
    answer = () => undefined;
    const { directiveId, workPacketId } = await approved();
    await eventually(async () => receiver.received.length === 1);
    expect((await new Desk(test).kill()).body.unconfirmed).toMatchObject([{ workPacketId }]);
    await eventually(
      () => test.rows('select status from work_packets where work_packet_id = $1', [workPacketId]),
      ([row]) => row!['status'] === 'failed',
    );
    await new Desk(test).revert();
    expect(await fault(directiveId)).toMatchObject({ code: 'WEBHOOK_UNCONFIRMED' });
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a draft of a post', () => {
  it.each<[string, () => object, string?]>([
    ['to a destination that there is not', () => ({ destinationId: `whk_${'0'.repeat(26)}`, data: DATA })],
    ['of something that is no object', () => ({ destinationId, data: 'text' })],
    ['that is nested without end', () => ({ destinationId, data: nested(20) })],
    ['of more than 50,000 bytes', () => ({ destinationId, data: { text: 'x'.repeat(50_001) } })],
    ['with half a character', () => ({ destinationId, data: { text: '\ud800' } })],
    ['with an event type of its own', () => ({ destinationId, data: DATA, event: 'kill.activated' })],
    ['by a capo whose scope it is not', () => ({ destinationId, data: DATA }), 'capo_marketing'],
  ])('%s is refused', async (_what, params, capo = 'capo_ops') => {
    const text = `Try ${Math.random()}`;
    runner.answer(text, { packets: [post(params())] });
    const { directiveId } = await new Desk(test).handIn({ text, capo });
    expect((await new Desk(test).until(directiveId, 'failed')).error).toMatchObject({
      code: 'INVALID_OUTPUT',
    });
  });

  it('can be added by a person to what a capo drafted', async () => {
    const { approval, approvalId, directiveId } = await drafted(
      draftPacket({ type: 'document.file', params: { title: 'Late', body: 'The delivery is late.' } }),
    );
    const add = [{ action: { type: 'webhook.post', params: { destinationId, data: DATA } } }];
    const edited = await new Desk(test).edit(
      approvalId,
      { packets: [], add, remove: [] },
      approval.contentHash,
    );
    expect(edited.status, edited.text).toBe(200);
    expect(edited.body).toMatchObject({ reversibility: 'irreversible' });
    expect((await new Desk(test).approve(approvalId)).status).toBe(200);
    await new Desk(test).until(directiveId, 'executed');
    expect(JSON.parse(receiver.received[0]!.body.toString()).payload.data).toEqual(DATA);
  });

  it("of another workspace's destination is refused", async () => {
    const { owner } = await test.createWorkspace();
    const text = 'Post it across';
    runner.answer(text, { packets: [post()] });
    const { body } = await owner.post('/directive', { text, capo: 'capo_ops' });
    const failed = await eventually(
      async () => (await owner.get(`/directives/${body.directiveId}`)).body,
      ({ status }) => status === 'failed',
    );
    expect(failed.error).toMatchObject({ code: 'INVALID_OUTPUT' });
  });
});

function nested(levels: number): object {
  return levels === 0 ? {} : { in: nested(levels - 1) };
}
