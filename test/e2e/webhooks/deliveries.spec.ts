import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { SPELLINGS, WebhookDesk } from './webhook-desk.js';

const KEY = 'Idempotency-Key';

let test: TestApp;
let desk: WebhookDesk;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
});
beforeEach(async () => {
  desk = await WebhookDesk.in(test);
});
afterAll(() => test.close());

/** Runs `act` and answers what the program told other processes meanwhile. */
async function messagesOf(act: () => Promise<void>, wanted: number): Promise<unknown[]> {
  const listener = new pg.Client({ connectionString: test.database.url });
  const heard: unknown[] = [];
  listener.on('notification', ({ payload }) => heard.push(JSON.parse(payload!)));
  await listener.connect();
  await listener.query('listen consigliere');
  try {
    await act();
    await eventually(
      async () => heard,
      () => heard.length >= wanted,
    );
  } finally {
    await listener.end();
  }
  return heard;
}

/** A delivery that has been tried in vain, once with an answer and once without. */
const ATTEMPTS = [
  { n: 1, at: 1_767_225_600_000, status: 500, durationMs: 12, error: null, answer: 'no room' },
  { n: 2, at: 1_767_225_601_000, status: null, durationMs: 10_000, error: 'timeout' },
];

describe('GET /deliveries/{id}', () => {
  it('200: shows what the receiver answered to each attempt', async () => {
    const destinationId = await desk.register();
    const ids = await desk.leaveDelivery(destinationId, { status: 'dead', attempts: ATTEMPTS });
    const { status, body, text } = await desk.client.get(`/deliveries/${ids.deliveryId}`);
    expect(status, text).toBe(200);
    expect(body).toEqual({
      ...ids,
      event: 'report.daily',
      destinationId,
      status: 'dead',
      attempts: ATTEMPTS,
      nextAttemptAt: null,
      lost: true,
      about: null,
      previousDeliveryId: null,
    });
  });

  it('404: knows none of another workspace, and nothing by another name', async () => {
    const other = await WebhookDesk.in(test);
    const { deliveryId } = await other.leaveDelivery(await other.register());
    expect((await desk.client.get(`/deliveries/${deliveryId}`)).status).toBe(404);
    expect((await desk.client.get('/deliveries/none')).status).toBe(404);
  });
});

describe.each(SPELLINGS)('GET %s/{id}/deliveries', (path) => {
  it('200: shows each attempt, and when the next one is due', async () => {
    const destinationId = await desk.register();
    const dueAt = new Date(Date.now() + 60_000);
    const ids = await desk.leaveDelivery(destinationId, { status: 'failed', attempts: ATTEMPTS, dueAt });
    const { status, body, text } = await desk.client.get(`${path}/${destinationId}/deliveries`);
    expect(status, text).toBe(200);
    expect(body).toEqual({
      items: [
        {
          ...ids,
          event: 'report.daily',
          destinationId,
          status: 'failed',
          attempts: ATTEMPTS.map(({ answer: _answer, ...attempt }) => attempt),
          nextAttemptAt: dueAt.getTime(),
          lost: false,
          about: null,
          previousDeliveryId: null,
        },
      ],
      total: 1,
      limit: 20,
      offset: 0,
      nextCursor: null,
    });
  });

  it('200: takes the lease of who is sending for no attempt, and knows none for what has ended', async () => {
    const destinationId = await desk.register();
    const dueAt = new Date(Date.now() + 6_000);
    for (const status of ['delivered', 'dead']) await desk.leaveDelivery(destinationId, { status });
    for (const status of ['sending', 'pending']) await desk.leaveDelivery(destinationId, { status, dueAt });
    const { body } = await desk.client.get(`${path}/${destinationId}/deliveries`);
    const shown = body.items.map((each: Record<string, unknown>) => [each['status'], each['nextAttemptAt']]);
    expect(shown).toEqual([
      ['pending', dueAt.getTime()],
      ['sending', null],
      ['dead', null],
      ['delivered', null],
    ]);
  });

  it('200: pages through its own deliveries, the newest first', async () => {
    const [destinationId, other] = [await desk.register(), await desk.register()];
    const made: string[] = [];
    for (let n = 0; n < 3; n++) made.unshift((await desk.leaveDelivery(destinationId)).deliveryId);
    await desk.leaveDelivery(other);
    const list = async (query = '') => {
      const { body } = await desk.client.get(`${path}/${destinationId}/deliveries${query}`);
      return { ...body, items: body.items.map(({ deliveryId }: { deliveryId: string }) => deliveryId) };
    };
    expect(await list()).toEqual({ items: made, total: 3, limit: 20, offset: 0, nextCursor: null });
    const first = await list('?limit=2');
    expect(first).toMatchObject({ items: made.slice(0, 2), total: 3, limit: 2, offset: 0 });
    expect(await list('?limit=2&offset=2')).toMatchObject({ items: made.slice(2), total: 3, offset: 2 });
    expect(await list(`?limit=2&cursor=${first.nextCursor}`)).toMatchObject({
      items: made.slice(2),
      total: 3,
    });
  });

  it('200: shows those that were lost and not sent again, and those that wait; the list of destinations counts them', async () => {
    const destinationId = await desk.register();
    const dueAt = new Date(Date.now() + 60_000);
    const lost = await desk.leaveDelivery(destinationId, { status: 'dead', attempts: ATTEMPTS });
    const resent = await desk.leaveDelivery(destinationId, { status: 'dead' });
    const failedCopy = await desk.leaveDelivery(destinationId, { status: 'dead', eventId: resent.eventId });
    const arrived = await desk.leaveDelivery(destinationId);
    await desk.leaveDelivery(destinationId, { status: 'dead', eventId: arrived.eventId });
    const waiting = await desk.leaveDelivery(destinationId, { status: 'failed', dueAt });
    const shown = async (show: string) =>
      (await desk.client.get(`${path}/${destinationId}/deliveries?show=${show}`)).body.items.map(
        ({ deliveryId }: { deliveryId: string }) => deliveryId,
      );
    expect(await shown('lost')).toEqual([failedCopy.deliveryId, lost.deliveryId]);
    expect(await shown('waiting')).toEqual([waiting.deliveryId]);
    expect(await shown('delivered')).toEqual([arrived.deliveryId]);
    const counts = async () => (await desk.client.get(path)).body.items[0].deliveries;
    expect(await counts()).toEqual({ lost: 2, waiting: 1, failing: 1, nextAttemptAt: dueAt.getTime() });
    // Once it is sent again it is lost no more, before it has arrived.
    await desk.client.post(`/deliveries/${lost.deliveryId}/redeliver`);
    expect(await shown('lost')).toEqual([failedCopy.deliveryId]);
    expect(await counts()).toMatchObject({ lost: 1, waiting: 2 });
    await desk.openBreaker(destinationId);
    expect((await counts()).nextAttemptAt).toBeGreaterThan(dueAt.getTime());
  });

  it('200: says what each is about, and which one it repeats', async () => {
    const destinationId = await desk.register();
    const text = 'Email jane@acme.example, subject "Your order 4714 has shipped": "It left today."';
    const [{ directiveId }, approvalTitle] = [
      (await desk.client.post('/directives', { directive: text, capo: 'capo_ops' })).body,
      'Mail to jane@acme.example: Your order 4714 has shipped',
    ];
    const leave = async (event: string, payload: object) => {
      const left = await desk.leaveDelivery(destinationId, { status: 'dead' });
      await test.rows(`update webhook_events set event = $2, body = $3 where event_id = $1`, [
        left.eventId,
        event,
        JSON.stringify({ event, payload }),
      ]);
      await test.rows(`update webhook_deliveries set event = $2 where event_id = $1`, [left.eventId, event]);
      return left;
    };
    await leave('directive.executed', { directiveId, status: 'executed', summary: 'Carried out.' });
    await leave('approval.decided', { approvalId: newId('apr'), title: approvalTitle });
    await leave('report.daily', { headline: 'A quiet day.' });
    await leave('revenue.recorded', { eventId: 'rev_1', amount: 12, currency: 'EUR', source: 'shop' });
    const first = await leave('pack.installed', { packId: 'invoice-reminders', version: '1.0.0' });
    await desk.client.post(`/deliveries/${first.deliveryId}/redeliver`);
    const { items } = (await desk.client.get(`${path}/${destinationId}/deliveries`)).body;
    expect(
      items.map(({ about, previousDeliveryId }: { about: string; previousDeliveryId: string }) => [
        about,
        previousDeliveryId,
      ]),
    ).toEqual([
      ['invoice-reminders', first.deliveryId],
      ['invoice-reminders', null],
      ['12 EUR shop', null],
      ['A quiet day.', null],
      [approvalTitle, null],
      [text, null],
    ]);
  });

  it('404: knows none of another workspace', async () => {
    const other = await WebhookDesk.in(test);
    const foreign = await other.register();
    await other.leaveDelivery(foreign);
    for (const id of [foreign, newId('whk'), 'nonsense']) {
      expect((await desk.client.get(`${path}/${id}/deliveries`)).status).toBe(404);
    }
  });

  it('422: refuses a limit that is none', async () => {
    const id = await desk.register();
    for (const query of ['limit=0', 'show=dead'])
      expect((await desk.client.get(`${path}/${id}/deliveries?${query}`)).status).toBe(422);
  });
});

describe.each(SPELLINGS)('POST %s/{id}/test', (path) => {
  it('202: queues one event for this destination alone, whatever it has chosen to receive', async () => {
    const [destinationId, other] = [await desk.register(), await desk.register()];
    const answer = await desk.client.post(`${path}/${destinationId}/test`);
    expect(answer.status, answer.text).toBe(202);
    const { deliveryId, eventId } = answer.body;
    expect(await desk.deliveries(other)).toEqual([]);
    const requestId = answer.headers.get('x-request-id');
    expect(answer.body).toEqual({
      deliveryId: expect.stringMatching(/^dlv_[0-9a-z]{26}$/),
      eventId: expect.stringMatching(/^evt_[0-9a-z]{26}$/),
      event: 'webhook.test',
      destinationId,
      status: 'pending',
      attempts: [],
      nextAttemptAt: expect.any(Number),
      lost: false,
      about: null,
      previousDeliveryId: null,
      requestId,
    });
    const { items } = (await desk.client.get(`${path}/${destinationId}/deliveries`)).body;
    expect(items).toEqual([{ ...answer.body, deliveryId, nextAttemptAt: expect.any(Number) }]);
    const [event] = await test.rows<{ body: string }>('select body from webhook_events where event_id = $1', [
      eventId,
    ]);
    const [head] = await test.rows('select seq::int, hash from receipt_heads where workspace_id = $1', [
      desk.workspaceId,
    ]);
    expect(JSON.parse(event!.body)).toEqual({
      event: 'webhook.test',
      timestamp: expect.any(Number),
      workspaceId: desk.workspaceId,
      payload: { destinationId, message: expect.any(String), receiptHead: head },
    });
    expect((await desk.receipts(destinationId)).at(-1)).toMatchObject({
      action: 'webhook.tested',
      actor: { id: desk.admin.memberId },
      details: { eventId },
      requestId,
    });
  });

  it('202: queues it for a paused one as well, and once under one key', async () => {
    const destinationId = await desk.register();
    await desk.becomes(destinationId, 'paused');
    const headers = { [KEY]: newId('req') };
    const first = await desk.client.post(`${path}/${destinationId}/test`, undefined, headers);
    const again = await desk.client.post(`${path}/${destinationId}/test`, undefined, headers);
    expect([first.status, again.status]).toEqual([202, 202]);
    expect(again.text).toBe(first.text);
    expect(await desk.deliveries(destinationId)).toHaveLength(1);
  });

  it('409: queues nothing for one that is gone', async () => {
    const destinationId = await desk.register();
    await desk.becomes(destinationId, 'gone');
    const count = await desk.receiptCount();
    const { status, body } = await desk.client.post(`${path}/${destinationId}/test`);
    expect([status, body.error.code]).toEqual([409, 'INVALID_TRANSITION']);
    expect(await desk.deliveries(destinationId)).toEqual([]);
    expect(await desk.receiptCount()).toBe(count);
  });
});

describe('POST /deliveries/{id}/redeliver', () => {
  it('202: makes a new delivery of the same event, and leaves the old one as it is', async () => {
    const destinationId = await desk.register();
    const old = await desk.leaveDelivery(destinationId, { status: 'dead', attempts: ATTEMPTS });
    const [before] = await desk.deliveries(destinationId);
    const answer = await desk.client.post(`/deliveries/${old.deliveryId}/redeliver`);
    expect(answer.status, answer.text).toBe(202);
    const { deliveryId } = answer.body;
    expect(deliveryId).not.toBe(old.deliveryId);
    expect(answer.body).toEqual({
      deliveryId: expect.stringMatching(/^dlv_[0-9a-z]{26}$/),
      eventId: old.eventId,
      event: 'report.daily',
      destinationId,
      status: 'pending',
      attempts: [],
      nextAttemptAt: expect.any(Number),
      lost: false,
      about: null,
      previousDeliveryId: old.deliveryId,
      requestId: old.requestId,
    });
    const { body } = await desk.client.get(`/webhooks/${destinationId}/deliveries`);
    expect(body.items[0]).toEqual(answer.body);
    const rows = await desk.deliveries(destinationId);
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual(before);
    expect(rows.find((row) => row['delivery_id'] === deliveryId)).toMatchObject({
      workspace_id: desk.workspaceId,
      event_id: old.eventId,
      status: 'pending',
    });
    expect(await desk.work(destinationId)).toEqual([
      expect.objectContaining({
        id: deliveryId,
        due_at: new Date(answer.body.nextAttemptAt),
        claimed: false,
      }),
    ]);
    const events = await test.rows('select 1 from webhook_events where workspace_id = $1', [
      desk.workspaceId,
    ]);
    expect(events).toHaveLength(1);
    expect(await desk.receipts(deliveryId)).toEqual([
      expect.objectContaining({
        action: 'delivery.redelivered',
        actor: expect.objectContaining({ id: desk.admin.memberId }),
        entity: { type: 'webhook_delivery', id: deliveryId },
        details: {
          event: 'report.daily',
          eventId: old.eventId,
          destinationId,
          previousDeliveryId: old.deliveryId,
        },
      }),
    ]);
  });

  it('202: makes one delivery under one key, however many ask at once', async () => {
    const destinationId = await desk.register();
    const { deliveryId } = await desk.leaveDelivery(destinationId);
    const headers = { [KEY]: newId('req') };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        desk.client.post(`/deliveries/${deliveryId}/redeliver`, undefined, headers),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await desk.deliveries(destinationId)).toHaveLength(2);
  });

  it('202: has one that is still tried by itself tried at once, and makes no second one', async () => {
    const destinationId = await desk.register();
    const lost = await desk.leaveDelivery(destinationId, { status: 'dead', attempts: ATTEMPTS });
    const dueAt = new Date(Date.now() + 600_000);
    const { eventId } = lost;
    const late = await desk.leaveDelivery(destinationId, {
      status: 'failed',
      attempts: ATTEMPTS,
      dueAt,
      eventId,
    });
    const before = await desk.deliveries(destinationId);
    for (const { deliveryId } of [late, lost]) {
      const { status, body, text } = await desk.client.post(`/deliveries/${deliveryId}/redeliver`);
      expect(status, text).toBe(202);
      expect(body).toMatchObject({ deliveryId: late.deliveryId, status: 'failed', attempts: ATTEMPTS });
      expect(body.nextAttemptAt).toBeLessThanOrEqual(Date.now());
    }
    expect(await desk.deliveries(destinationId)).toEqual(before);
    const [work, ...others] = await desk.work(destinationId);
    expect(others).toEqual([]);
    expect((work!['due_at'] as Date).getTime()).toBeLessThanOrEqual(Date.now());
    expect((await desk.receipts(late.deliveryId))[0]).toMatchObject({
      action: 'delivery.expedited',
      actor: { id: desk.admin.memberId },
      details: { event: 'report.daily', eventId, destinationId },
    });
  });

  it('202: leaves one that is being sent to its attempt', async () => {
    const destinationId = await desk.register();
    const dueAt = new Date(Date.now() + 6_000);
    const { deliveryId } = await desk.leaveDelivery(destinationId, { status: 'sending', dueAt });
    const [work, count] = [await desk.work(destinationId), await desk.receiptCount()];
    const { body } = await desk.client.post(`/deliveries/${deliveryId}/redeliver`);
    expect(body).toMatchObject({ deliveryId, status: 'sending' });
    expect(await desk.work(destinationId)).toEqual(work);
    expect(await desk.receiptCount()).toBe(count);
  });

  it('202: makes one delivery, however many people ask at once', async () => {
    const destinationId = await desk.register();
    const { deliveryId } = await desk.leaveDelivery(destinationId, { status: 'dead' });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => desk.client.post(`/deliveries/${deliveryId}/redeliver`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(202));
    expect(new Set(answers.map(({ body }) => body.deliveryId)).size).toBe(1);
    expect(await desk.deliveries(destinationId)).toHaveLength(2);
  });

  it('202: sends nothing where the event has arrived meanwhile, if that is asked for', async () => {
    const destinationId = await desk.register();
    const { eventId, deliveryId } = await desk.leaveDelivery(destinationId, { status: 'dead' });
    const arrived = await desk.leaveDelivery(destinationId, { eventId });
    const count = await desk.receiptCount();
    const { body } = await desk.client.post(`/deliveries/${deliveryId}/redeliver`, { unlessDelivered: true });
    expect(body).toMatchObject({ deliveryId: arrived.deliveryId, status: 'delivered' });
    expect(await desk.deliveries(destinationId)).toHaveLength(2);
    expect(await desk.receiptCount()).toBe(count);
  });

  it.each(['gone', 'deleted'] as const)('409: sends nothing more to one that is %s', async (state) => {
    const destinationId = await desk.register();
    const { deliveryId } = await desk.leaveDelivery(destinationId);
    if (state === 'gone') await desk.becomes(destinationId, 'gone');
    else expect((await desk.client.delete(`/webhooks/${destinationId}`)).status).toBe(200);
    const count = await desk.receiptCount();
    const { status, body } = await desk.client.post(`/deliveries/${deliveryId}/redeliver`);
    expect([status, body.error.code]).toEqual([409, 'INVALID_TRANSITION']);
    expect(await desk.deliveries(destinationId)).toHaveLength(1);
    expect(await desk.receiptCount()).toBe(count);
  });

  it('409: sends nothing to one that is deleted at this moment', async () => {
    const destinationId = await desk.register();
    const { deliveryId } = await desk.leaveDelivery(destinationId);
    const { status } = await desk.meanwhile(
      `update webhook_destinations set deleted_at = now(), sealed_secret = null
       where destination_id = '${destinationId}'`,
      () => desk.client.post(`/deliveries/${deliveryId}/redeliver`),
    );
    expect(status).toBe(409);
    expect(await desk.deliveries(destinationId)).toHaveLength(1);
  });

  it('404: knows none of another workspace', async () => {
    const other = await WebhookDesk.in(test);
    const foreign = await other.register();
    const { deliveryId } = await other.leaveDelivery(foreign);
    for (const id of [deliveryId, newId('dlv'), newId('whk'), 'nonsense']) {
      expect((await desk.client.post(`/deliveries/${id}/redeliver`)).status).toBe(404);
    }
    expect(await other.deliveries(foreign)).toHaveLength(1);
  });
});

describe('whoever sends', () => {
  it('is told of a destination after a test, a redelivery and the end of a pause', async () => {
    const destinationId = await desk.register();
    const { deliveryId } = await desk.leaveDelivery(destinationId);
    const message = { topic: 'work', workspaceId: desk.workspaceId, id: `webhook.deliver ${destinationId}` };
    for (const act of [
      () => desk.client.post(`/webhooks/${destinationId}/test`),
      () => desk.client.post(`/deliveries/${deliveryId}/redeliver`),
      () => desk.client.post(`/webhooks/${destinationId}/resume`),
    ]) {
      await desk.becomes(destinationId, 'paused');
      const heard = await messagesOf(async () => expect((await act()).status).toBeLessThan(300), 1);
      expect(heard).toEqual([message]);
    }
  });
});

describe('an act that ends while an admin changes a destination', () => {
  it.each<[string, (destinationId: string, deliveryId: string) => [method: string, path: string]]>([
    ['rotated', (id) => ['POST', `/webhooks/${id}/rotate-secret`]],
    ['resumed', (id) => ['POST', `/webhooks/${id}/resume`]],
    ['tested', (id) => ['POST', `/webhooks/${id}/test`]],
    ['deleted', (id) => ['DELETE', `/webhooks/${id}`]],
    ['sent to again', (_, deliveryId) => ['POST', `/deliveries/${deliveryId}/redeliver`]],
  ])('hands its event to one that is being %s, and neither gives way', async (_case, request) => {
    const destinationId = await desk.register();
    const { deliveryId, eventId } = await desk.leaveDelivery(destinationId);
    await desk.becomes(destinationId, 'paused');
    const [method, path] = request(destinationId, deliveryId);
    // The act holds the head of the chain, which the request wants once it has the destination.
    const answer = await desk.meanwhile(
      `select 1 from receipt_heads where workspace_id = '${desk.workspaceId}' for update`,
      () => desk.client.send(method, path),
      `insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status,
         created_at)
       values ('${newId('dlv')}', '${desk.workspaceId}', '${destinationId}', '${eventId}', 'report.daily', 'pending',
         now())`,
    );
    expect(answer.status, answer.text).toBeLessThan(300);
  });
});

describe('with a worker', () => {
  let sending: TestApp;
  let receiver: EventReceiver;
  beforeAll(async () => {
    receiver = await startEventReceiver();
    sending = await startTestApp({ OUTBOUND_ALLOW: receiver.hostPort });
  });
  beforeEach(async () => {
    desk = await WebhookDesk.in(sending);
    receiver.received.length = 0;
  });
  afterAll(async () => {
    await sending.close();
    await receiver.close();
  });

  const arrivals = (count: number) =>
    eventually(
      async () => receiver.received,
      (received) => received.length >= count,
    );

  it('a test arrives, signed with the secret that was shown', async () => {
    const { destinationId, secret } = await desk.registerPartner({ url: receiver.url });
    const { body } = await desk.client.post(`/webhooks/${destinationId}/test`);
    const [received] = await arrivals(1);
    const headers = received!.headers as Record<string, string>;
    expect(headers).toMatchObject({ 'webhook-id': body.eventId, 'x-service-event': 'webhook.test' });
    expect(new Webhook(secret).verify(received!.body, headers)).toMatchObject({
      event: 'webhook.test',
      workspaceId: desk.workspaceId,
      payload: { destinationId },
    });
    const { items } = await eventually(
      async () => (await desk.client.get(`/webhooks/${destinationId}/deliveries`)).body,
      (page) => page.items[0].status === 'delivered',
    );
    expect(items[0]).toMatchObject({ attempts: [{ n: 1, status: 200, error: null }], nextAttemptAt: null });
  });

  it('an event that is sent again arrives with the same id and bytes', async () => {
    const { destinationId, secret } = await desk.registerPartner({ url: receiver.url });
    await desk.client.post(`/webhooks/${destinationId}/test`);
    await arrivals(1);
    const [{ delivery_id: deliveryId }] = (await desk.deliveries(destinationId)) as [{ delivery_id: string }];
    expect((await desk.client.post(`/deliveries/${deliveryId}/redeliver`)).status).toBe(202);
    const [first, again] = await arrivals(2);
    expect(again!.eventId).toBe(first!.eventId);
    expect(again!.body).toEqual(first!.body);
    new Webhook(secret).verify(again!.body, again!.headers as Record<string, string>);
  });

  it('an event that is sent again while it still waits for its retry arrives once', async () => {
    let status = 500;
    const refusing = await startEventReceiver((_received, response) => response.writeHead(status).end());
    const { hostPort } = refusing;
    const worker = await startTestApp({ OUTBOUND_ALLOW: hostPort });
    try {
      desk = await WebhookDesk.in(worker);
      const { destinationId } = await desk.registerPartner({ url: refusing.url });
      await desk.client.post(`/webhooks/${destinationId}/test`);
      const list = async () => (await desk.client.get(`/webhooks/${destinationId}/deliveries`)).body.items;
      const [{ deliveryId }] = await eventually(
        list,
        ([one]) => one.status === 'failed' && one.attempts.length === 2,
      );
      status = 204;
      await desk.client.post(`/deliveries/${deliveryId}/redeliver`);
      const [delivered, ...others] = await eventually(list, (items) =>
        items.every((one: { status: string }) => one.status === 'delivered'),
      );
      expect(others).toEqual([]);
      expect(delivered.attempts.map((one: { status: number }) => one.status)).toEqual([500, 500, 204]);
      expect(await desk.work(destinationId)).toEqual([]);
      expect(refusing.received).toHaveLength(3);
    } finally {
      await worker.close();
      await refusing.close();
    }
  });

  it('what a rotated secret signs is known to who has the old one and to who has the new one', async () => {
    const { destinationId, secret } = await desk.registerPartner({ url: receiver.url });
    const { body } = await desk.client.post(`/webhooks/${destinationId}/rotate-secret`);
    await desk.client.post(`/webhooks/${destinationId}/test`);
    const [received] = await arrivals(1);
    for (const each of [secret, body.secret]) {
      const headers = received!.headers as Record<string, string>;
      expect(new Webhook(each).verify(received!.body, headers)).toMatchObject({ event: 'webhook.test' });
    }
  });

  /** What is sent to another destination, and falls due once more without anyone being told, has arrived. */
  async function untilSent(): Promise<void> {
    const { destinationId } = await desk.registerPartner({ url: new URL('/witness', receiver.url).href });
    await desk.client.post(`/webhooks/${destinationId}/test`);
    const arrived = (count: number) =>
      eventually(
        async () => receiver.received.filter(({ path }) => path === '/witness'),
        (received) => received.length === count,
      );
    await arrived(1);
    await eventually(
      () => desk.deliveries(destinationId),
      ([delivery]) => delivery!['status'] === 'delivered',
    );
    await sending.rows(`update webhook_deliveries set status = 'pending' where destination_id = $1`, [
      destinationId,
    ]);
    await sending.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at)
       select 'webhook.deliver', delivery_id, workspace_id, destination_id, now()
       from webhook_deliveries where destination_id = $1`,
      [destinationId],
    );
    await arrived(2);
  }
  const received = () => receiver.received.filter(({ path }) => path !== '/witness');

  it('what waited for a paused one goes out when it is resumed, and not before', async () => {
    const { destinationId } = await desk.registerPartner({ url: receiver.url });
    await desk.becomes(destinationId, 'paused');
    for (let n = 0; n < 3; n++) await desk.client.post(`/webhooks/${destinationId}/test`);
    await untilSent();
    expect(received()).toEqual([]);
    expect((await desk.client.post(`/webhooks/${destinationId}/resume`)).status).toBe(200);
    await eventually(
      async () => received(),
      (all) => all.length === 3,
    );
  });

  it('what waited for one that is deleted is never sent', async () => {
    const { destinationId } = await desk.registerPartner({ url: receiver.url });
    await desk.becomes(destinationId, 'paused');
    await desk.client.post(`/webhooks/${destinationId}/test`);
    await desk.client.delete(`/webhooks/${destinationId}`);
    await untilSent();
    expect(received()).toEqual([]);
    expect(await desk.deliveries(destinationId)).toMatchObject([{ status: 'dead', attempts: [] }]);
    expect(await desk.work(destinationId)).toEqual([]);
  });
});
