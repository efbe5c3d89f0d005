import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EVENT_TYPES, SUBSCRIBABLE_EVENTS } from '../../../src/features/events/events.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { OrderDesk } from '../standing-orders/order-desk.js';
import {
  CHOSEN_SECRET,
  faultPaths,
  GENERATED,
  PUBLIC_URL,
  REGISTRATIONS,
  SPELLINGS,
  WebhookDesk,
} from './webhook-desk.js';

let test: TestApp;
let desk: WebhookDesk;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
});
beforeEach(async () => {
  desk = await WebhookDesk.in(test);
});
afterAll(() => test.close());

describe('POST /webhooks 201', () => {
  it('answers the destination without its secret, and stores it sealed with a receipt', async () => {
    const answer = await desk.client.post('/webhooks', {
      events: ['kill.activated', 'report.daily'],
      url: PUBLIC_URL,
      secret: 'never to be seen again',
    });
    expect(answer.status, answer.text).toBe(201);
    const { destinationId, createdAt } = answer.body;
    expect(answer.body).toEqual({
      destinationId: expect.stringMatching(/^whk_[0-9a-z]{26}$/),
      description: '',
      url: PUBLIC_URL,
      events: ['kill.activated', 'report.daily'],
      status: 'active',
      apiVersion: '2026-04',
      createdAt: expect.any(Number),
      lastDeliveryAt: null,
      consecutiveFailures: 0,
    });
    const row = await desk.row(destinationId);
    expect(row).toMatchObject({
      workspace_id: desk.workspaceId,
      url: PUBLIC_URL,
      events: ['kill.activated', 'report.daily'],
      status: 'active',
      former_secrets: [],
      fault: null,
      created_by: { type: 'member', id: desk.admin.memberId, via: 'api' },
      created_at: new Date(createdAt),
      deleted_at: null,
    });
    expect(desk.opened(destinationId, row['sealed_secret'])).toBe('never to be seen again');
    expect(await desk.receipts(destinationId)).toEqual([
      expect.objectContaining({
        action: 'webhook.created',
        actor: expect.objectContaining({ id: desk.admin.memberId }),
        entity: { type: 'webhook_destination', id: destinationId },
        details: {
          name: `Webhook destination ${destinationId}`,
          events: ['kill.activated', 'report.daily'],
        },
        requestId: answer.headers.get('x-request-id'),
      }),
    ]);
    const listed = await desk.client.get('/webhooks?limit=100');
    expect(listed.text).toContain(destinationId);
    expect(listed.text + answer.text + (await desk.everythingKept())).not.toContain('never to be seen again');
  });

  it('takes one event by name, as the specification shows it', async () => {
    const { status, body } = await desk.client.post('/webhooks', REGISTRATIONS['/webhooks']);
    expect(status).toBe(201);
    expect(body.events).toEqual(['report.daily']);
  });

  it.each([
    ['16 characters', 'x'.repeat(16)],
    ['256 characters', 'x'.repeat(256)],
    ['other letters', 'grüße und ein paar 🔑🔑'],
    ['padded base64 behind whsec_', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['WHSEC_ and anything', 'WHSEC_!!!!!!!!!!!!'],
  ])('takes a secret of %s, byte for byte', async (_case, secret) => {
    const destinationId = await desk.register({ secret });
    expect(desk.opened(destinationId, (await desk.row(destinationId))['sealed_secret'])).toBe(secret);
  });
});

describe('POST /partner/webhooks 201', () => {
  it('makes a secret, shows it once, and keeps it sealed', async () => {
    const answer = await desk.client.post('/partner/webhooks', { description: 'Ledger', url: PUBLIC_URL });
    expect(answer.status, answer.text).toBe(201);
    const { destinationId, secret } = answer.body;
    expect(answer.body).toEqual({
      destinationId: expect.stringMatching(/^whk_/),
      description: 'Ledger',
      url: PUBLIC_URL,
      events: [...EVENT_TYPES],
      status: 'active',
      apiVersion: '2026-04',
      createdAt: expect.any(Number),
      lastDeliveryAt: null,
      consecutiveFailures: 0,
      secret: expect.stringMatching(GENERATED),
    });
    const row = await desk.row(destinationId);
    expect(desk.opened(destinationId, row['sealed_secret'])).toBe(secret);
    for (const path of SPELLINGS) {
      const { text } = await desk.client.get(`${path}?limit=100`);
      expect(text).toContain(destinationId);
      expect(text).not.toContain(secret);
    }
    expect(await desk.everythingKept()).not.toContain(secret);
  });

  it('gives each destination a secret of its own', async () => {
    const [one, other] = [await desk.registerPartner(), await desk.registerPartner()];
    expect(one.secret).not.toBe(other.secret);
  });

  it.each(SUBSCRIBABLE_EVENTS)('sends %s alone where nothing else is wanted', async (event) => {
    const { destinationId } = await desk.registerPartner({ events: [event] });
    expect(await desk.row(destinationId)).toMatchObject({ events: [event] });
  });
});

describe('POST /webhooks 422 VALIDATION_FAILED', () => {
  it.each([
    ['neither event nor events', { event: undefined }, 'event'],
    ['both', { events: ['report.daily'] }, 'event'],
    ['an event that does not exist', { event: 'report.weekly' }, 'event'],
    ['the test event', { event: 'webhook.test' }, 'event'],
    ['null', { event: null }, 'event'],
    ['no list', { event: undefined, events: 'report.daily' }, 'events'],
    ['an empty list', { event: undefined, events: [] }, 'events'],
    ['an event twice', { event: undefined, events: ['report.daily', 'report.daily'] }, 'events'],
    ['a stranger in the list', { event: undefined, events: ['report.daily', '__proto__'] }, 'events'],
    ['a list as null', { event: undefined, events: null }, 'events'],
    ['no URL', { url: undefined }, 'url'],
    ['a URL that is no text', { url: ['https://receiver.example.com/'] }, 'url'],
    ['no secret', { secret: undefined }, 'secret'],
    ['15 characters', { secret: 'seen!'.repeat(3) }, 'secret'],
    ['257 characters', { secret: 'x'.repeat(257) }, 'secret'],
    ['a secret that is no text', { secret: 1234567890123456 }, 'secret'],
    ['base64 without padding', { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS' }, 'secret'],
    ['base64 of URLs', { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2La-_Sw' }, 'secret'],
    ['base64 with a space', { secret: 'whsec_MfKQ9r8GKYqr TwjUPD8ILPZIo2LaLaSw' }, 'secret'],
    ['a pass phrase behind whsec_', { secret: 'whsec_correct horse battery' }, 'secret'],
    ['a stranger', { active: true }, 'active'],
    ['a description', { description: 'Ledger' }, 'description'],
  ])('refuses %s, and says nothing of the secret', async (_case, change, path) => {
    const before = await desk.live();
    const answer = await desk.client.post('/webhooks', { ...REGISTRATIONS['/webhooks'], ...change });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.error.code).toBe('VALIDATION_FAILED');
    expect(faultPaths(answer.body)).toEqual([path]);
    const { secret = CHOSEN_SECRET } = change as { secret?: unknown };
    expect(answer.text).not.toContain(String(secret));
    expect(await desk.live()).toEqual(before);
  });

  it('looks at a list of a hundred thousand events no longer than at any other', async () => {
    const events = Array.from({ length: 100_000 }, (_, index) => index);
    const began = process.cpuUsage();
    const { event: _event, ...body } = REGISTRATIONS['/webhooks'];
    expect((await desk.client.post('/webhooks', { ...body, events })).status).toBe(422);
    expect(process.cpuUsage(began).user).toBeLessThan(2_000_000);
  });
});

describe('POST /partner/webhooks 422 VALIDATION_FAILED', () => {
  it.each([
    ['no description', { description: undefined }, 'description'],
    ['an empty description', { description: ' ' }, 'description'],
    ['two lines', { description: 'a\nb' }, 'description'],
    ['201 characters', { description: 'x'.repeat(201) }, 'description'],
    ['no URL', { url: undefined }, 'url'],
    ['an empty list', { events: [] }, 'events'],
    ['null for a list', { events: null }, 'events'],
    ['an event that does not exist', { events: ['report.weekly'] }, 'events'],
    ['a secret of the customer', { secret: CHOSEN_SECRET }, 'secret'],
  ])('refuses %s', async (_case, change, path) => {
    const before = await desk.live();
    const answer = await desk.client.post('/partner/webhooks', {
      ...REGISTRATIONS['/partner/webhooks'],
      ...change,
    });
    expect(answer.status, answer.text).toBe(422);
    expect(faultPaths(answer.body)).toEqual([path]);
    expect(await desk.live()).toEqual(before);
  });
});

describe('registration 409', () => {
  it('keeps a workspace at 50 destinations, however many register at once', async () => {
    const full = await WebhookDesk.in(test);
    await full.register();
    await full.test.rows(
      `insert into webhook_destinations (destination_id, workspace_id, description, url, events, status, api_version,
         sealed_secret, created_by, created_at, deleted_at)
       select app.new_id('whk'), workspace_id, description, url, events, status, api_version, sealed_secret, created_by,
         created_at, case when n > 46 then now() end
       from webhook_destinations, generate_series(1, 60) n where workspace_id = $1`,
      [full.workspaceId],
    );
    expect(await full.live()).toHaveLength(47);
    // Each can look, and none can add before the others have looked.
    const answers = await full.meanwhile('lock table webhook_destinations in share mode', () =>
      Promise.all(
        Array.from({ length: 8 }, (_, index) => {
          const path = SPELLINGS[index % 2]!;
          return full.client.post(path, REGISTRATIONS[path]);
        }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)!.body.error).toMatchObject({
      code: 'TOO_MANY_DESTINATIONS',
      details: { limit: 50 },
    });
    expect(await full.live()).toHaveLength(50);
    const [{ destination_id: id }] = (await full.live()) as [{ destination_id: string }];
    expect((await full.client.delete(`/webhooks/${id}`)).status).toBe(200);
    await full.register();
    await (await WebhookDesk.in(test)).register();
  });
});

describe('GET /webhooks and /partner/webhooks 200', () => {
  it('page through the destinations of the workspace, the newest first', async () => {
    const own = await WebhookDesk.in(test);
    const made: string[] = [];
    for (let n = 0; n < 3; n++) made.unshift(await own.register());
    const deleted = await own.register();
    await own.client.delete(`/webhooks/${deleted}`);
    for (const path of SPELLINGS) {
      const { status, body } = await own.client.get(path);
      expect(status).toBe(200);
      expect(body).toMatchObject({ total: 3, limit: 20, offset: 0 });
      const ids = (page: { items: { destinationId: string }[] }) =>
        page.items.map(({ destinationId }) => destinationId);
      expect(ids(body)).toEqual(made);
      expect(ids((await own.client.get(`${path}?limit=1&offset=1`)).body)).toEqual([made[1]]);
    }
  });

  it.each(SPELLINGS)('refuse a limit that is none: %s', async (path) => {
    expect((await desk.client.get(`${path}?limit=101`)).status).toBe(422);
  });
});

describe('limits', () => {
  beforeEach(() => test.clock.stopAtMinute());
  afterEach(() => test.clock.goOn());

  it('are 5 a minute for /partner/webhooks, whatever the method, and apart from /webhooks', async () => {
    const { client } = desk;
    for (let n = 4; n >= 0; n--) {
      const answer =
        n % 2 ? await client.get('/partner/webhooks') : await client.post('/partner/webhooks', {});
      expect(answer.headers.get('x-ratelimit-limit')).toBe('5');
      expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(n));
    }
    for (const answer of [
      await client.post('/partner/webhooks', REGISTRATIONS['/partner/webhooks']),
      await client.get('/partner/webhooks'),
    ]) {
      expect(answer.status).toBe(429);
      expect(answer.body.error.details).toMatchObject({ policy: 'route', limit: 5, windowSeconds: 60 });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await client.get('/webhooks')).status).toBe(200);
    expect((await client.post('/webhooks', REGISTRATIONS['/webhooks'])).status).toBe(201);
  });

  it.each([
    ['DELETE', '', 30],
    ['POST', '/test', 30],
    ['POST', '/rotate-secret', 30],
    ['POST', '/resume', 30],
    ['GET', '/deliveries', 60],
  ])('are shared by both spellings of %s .../{id}%s', async (method, rest, limit) => {
    const { client } = desk;
    const id = newId('whk');
    for (const [index, path] of SPELLINGS.entries()) {
      const answer = await client.send(method, `${path}/${id}${rest}`);
      expect(answer.status).toBe(404);
      expect(answer.headers.get('x-ratelimit-limit')).toBe(String(limit));
      expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(limit - 1 - index));
    }
  });
});

const OTHER_URL = 'https://93.184.216.35/hooks/other';

describe.each(SPELLINGS)('PATCH %s/{id}', (path) => {
  const change = (id: string, body: object) => desk.client.send('PATCH', `${path}/${id}`, body);

  it('200: changes what is named and nothing else, with a receipt that has no address', async () => {
    const { destinationId, secret } = await desk.registerPartner();
    const { description, events } = await desk.row(destinationId);
    const named = await change(destinationId, { description: 'Ledger of Acme' });
    expect(named.status, named.text).toBe(200);
    expect(named.body).toMatchObject({
      destinationId,
      description: 'Ledger of Acme',
      url: PUBLIC_URL,
      events,
    });
    const moved = await change(destinationId, { url: OTHER_URL, events: ['report.daily'] });
    expect(moved.body).toMatchObject({
      description: 'Ledger of Acme',
      url: OTHER_URL,
      events: ['report.daily'],
    });
    const row = await desk.row(destinationId);
    expect(row).toMatchObject({ url: OTHER_URL, events: ['report.daily'], former_secrets: [] });
    expect(desk.opened(destinationId, row['sealed_secret'])).toBe(secret);
    const changes = (await desk.receipts(destinationId)).slice(1);
    expect(changes).toMatchObject([
      { action: 'webhook.changed', details: { changed: ['description'], name: 'Ledger of Acme' } },
      { action: 'webhook.changed', details: { changed: ['url', 'events'], events: ['report.daily'] } },
    ]);
    expect(changes[0]!['summary']).toContain(`"${String(description)}"`);
    expect(JSON.stringify(changes)).not.toContain('93.184');
    expect(await test.rows('select name from connectors where subject = $1', [destinationId])).toEqual([
      { name: 'Ledger of Acme' },
    ]);
  });

  it('200: leaves it as it is, without a receipt, where nothing differs', async () => {
    const destinationId = await desk.register();
    const count = await desk.receiptCount();
    for (const body of [{}, { url: PUBLIC_URL, events: ['report.daily'] }])
      expect((await change(destinationId, body)).status).toBe(200);
    expect(await desk.receiptCount()).toBe(count);
  });

  it('200: takes an address that differs in its fragment alone for the same one', async () => {
    const registered = await desk.client.post(path, { ...REGISTRATIONS[path], url: `${PUBLIC_URL}#a` });
    expect([registered.status, registered.body.url]).toEqual([201, PUBLIC_URL]);
    const { destinationId } = registered.body;
    await desk.becomes(destinationId, 'gone');
    const count = await desk.receiptCount();
    const changed = await change(destinationId, { url: `${PUBLIC_URL}#b` });
    expect(changed.body).toMatchObject({ url: PUBLIC_URL, status: 'gone' });
    expect(await desk.receiptCount()).toBe(count);
  });

  it.each(['paused', 'gone'] as const)('200: another address ends that it was %s', async (status) => {
    const destinationId = await desk.register();
    await desk.becomes(destinationId, status);
    expect((await change(destinationId, { events: ['kill.activated'] })).body).toMatchObject({ status });
    const moved = await change(destinationId, { url: OTHER_URL });
    expect(moved.body).toMatchObject({ status: 'active', consecutiveFailures: 0 });
    expect(await desk.breakers(destinationId)).toEqual([]);
    expect((await desk.client.post(`${path}/${destinationId}/test`)).status).toBe(202);
  });

  it('422: refuses an address that leads inside, and values that are none, and changes nothing', async () => {
    const destinationId = await desk.register();
    const before = await desk.row(destinationId);
    for (const [body, code] of [
      [{ url: 'https://127.0.0.1/hooks' }, 'INVALID_DESTINATION'],
      [{ url: 'http://93.184.216.34/' }, 'INVALID_DESTINATION'],
      [{ url: null }, 'VALIDATION_FAILED'],
      [{ description: null }, 'VALIDATION_FAILED'],
      [{ events: [] }, 'VALIDATION_FAILED'],
      [{ events: null }, 'VALIDATION_FAILED'],
      [{ secret: CHOSEN_SECRET }, 'VALIDATION_FAILED'],
    ] as const) {
      const answer = await change(destinationId, body);
      expect([answer.status, answer.body.error?.code], answer.text).toEqual([422, code]);
    }
    expect(await desk.row(destinationId)).toEqual(before);
  });

  it.each(['$eq', '$in', '$prefix'])(
    '403: an admin cannot move one that an acknowledged order names (%s); an owner can',
    async (operator) => {
      const destinationId = await desk.register();
      const owner = await desk.as('owner');
      const orders = new OrderDesk(test);
      const value = operator === '$in' ? [destinationId] : destinationId;
      const fields = { 'params.destinationId': { [operator]: value } };
      const match = { actionTypes: ['webhook.post'], fields };
      const order = { name: 'Post to the ledger', effect: 'allow', match };
      const standingOrderId = await orders.active(order, owner);
      const before = [await desk.row(destinationId), await desk.receiptCount()];
      const refused = await change(destinationId, { url: OTHER_URL });
      expect([refused.status, refused.body.error.code], refused.text).toEqual([403, 'FORBIDDEN']);
      expect(refused.body.error.message).toContain('"Post to the ledger"');
      // Paused, it can be activated as it was acknowledged.
      expect((await desk.client.post(`/standing-orders/${standingOrderId}/pause`)).status).toBe(200);
      expect((await change(destinationId, { url: OTHER_URL })).status).toBe(403);
      expect([await desk.row(destinationId), (await desk.receiptCount()) - 1]).toEqual(before);
      expect((await change(destinationId, { url: PUBLIC_URL, description: 'Ledger' })).status).toBe(200);
      const moved = await owner.send('PATCH', `${path}/${destinationId}`, { url: OTHER_URL });
      expect([moved.status, moved.body.url], moved.text).toEqual([200, OTHER_URL]);
    },
  );

  it('200: an admin moves one that orders name which are archived, deny, or are about another one', async () => {
    const [destinationId, another] = [await desk.register(), await desk.register()];
    const orders = new OrderDesk(test);
    const owner = await desk.as('owner');
    const naming = (effect: string, id: string) =>
      orders.active(
        {
          name: 'Posts',
          effect,
          match: { actionTypes: ['webhook.post'], fields: { 'params.destinationId': { $eq: id } } },
        },
        owner,
      );
    const archived = await naming('allow', destinationId);
    expect((await desk.client.delete(`/standing-orders/${archived}`)).status).toBe(200);
    await naming('allow', another);
    await naming('deny', destinationId);
    expect((await change(destinationId, { url: OTHER_URL })).body).toMatchObject({ url: OTHER_URL });
  });

  it('404: knows none of another workspace, or one that was deleted', async () => {
    const foreign = await (await WebhookDesk.in(test)).register();
    const deleted = await desk.register();
    await desk.client.delete(`/webhooks/${deleted}`);
    for (const id of [foreign, deleted, 'nonsense'])
      expect((await change(id, { description: 'Mine' })).status).toBe(404);
  });
});

describe.each(SPELLINGS)('DELETE %s/{id}', (path) => {
  it('200: ends what waits, empties the secrets, and keeps the record', async () => {
    const destinationId = await desk.register();
    await desk.client.post(`${path}/${destinationId}/rotate-secret`);
    const soon = new Date(Date.now() + 60_000);
    for (const status of ['pending', 'sending', 'failed']) {
      await desk.leaveDelivery(destinationId, { status, dueAt: soon });
    }
    const arrived = await desk.leaveDelivery(destinationId);
    const elsewhere = await desk.register();
    await desk.leaveDelivery(elsewhere, { status: 'pending', dueAt: soon });
    const answer = await desk.client.delete(`${path}/${destinationId}`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ destinationId, url: PUBLIC_URL });
    expect(await desk.row(destinationId)).toMatchObject({
      sealed_secret: null,
      former_secrets: [],
      deleted_at: expect.any(Date),
    });
    const deliveries = await desk.deliveries(destinationId);
    expect(deliveries.map(({ status }) => status)).toEqual(['dead', 'dead', 'dead', 'delivered']);
    expect(await desk.work(destinationId)).toEqual([]);
    expect(await desk.deliveries(elsewhere)).toMatchObject([{ status: 'pending' }]);
    expect(await desk.work(elsewhere)).toMatchObject([{ due_at: soon }]);
    expect((await desk.client.get('/webhooks?limit=100')).text).not.toContain(destinationId);
    const log = await desk.client.get(`${path}/${destinationId}/deliveries`);
    expect(log.body).toMatchObject({ total: 4, items: [{ deliveryId: arrived.deliveryId }, {}, {}, {}] });
    expect((await desk.receipts(destinationId)).at(-1)).toMatchObject({
      action: 'webhook.deleted',
      actor: { id: desk.admin.memberId },
      details: { deliveriesEnded: 3 },
    });
  });

  it('200: deletes a paused one and one that is gone', async () => {
    for (const status of ['paused', 'gone'] as const) {
      const destinationId = await desk.register();
      await desk.becomes(destinationId, status);
      expect((await desk.client.delete(`${path}/${destinationId}`)).status).toBe(200);
    }
  });

  it('404: knows a deleted one no more than one that never was or is elsewhere', async () => {
    const other = await WebhookDesk.in(test);
    const foreign = await other.register();
    const deleted = await desk.register();
    await desk.client.delete(`/webhooks/${deleted}`);
    const count = await desk.receiptCount();
    for (const id of [foreign, deleted, newId('whk'), newId('dlv'), 'nonsense']) {
      for (const [method, rest] of [
        ['DELETE', ''],
        ['POST', '/test'],
        ['POST', '/rotate-secret'],
        ['POST', '/resume'],
      ] as const) {
        const { status, body } = await desk.client.send(method, `${path}/${id}${rest}`);
        expect([status, body.error.code], `${method} ${id}${rest}`).toEqual([404, 'NOT_FOUND']);
      }
    }
    expect(await desk.receiptCount()).toBe(count);
    expect(await other.row(foreign)).toMatchObject({ status: 'active', deleted_at: null });
  });

  it('lets one of two who delete at the same time do it', async () => {
    const destinationId = await desk.register();
    const answers = await Promise.all([
      desk.client.delete(`${path}/${destinationId}`),
      desk.client.delete(`${path}/${destinationId}`),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    const actions = (await desk.receipts(destinationId)).map(({ action }) => action);
    expect(actions).toEqual(['webhook.created', 'webhook.deleted']);
  });
});

describe.each(SPELLINGS)('POST %s/{id}/resume', (path) => {
  it('200: ends a pause, counts from zero, and leaves a receipt', async () => {
    const destinationId = await desk.register();
    await desk.becomes(destinationId, 'paused');
    const answer = await desk.client.post(`${path}/${destinationId}/resume`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ destinationId, status: 'active', consecutiveFailures: 0 });
    expect(await desk.row(destinationId)).toMatchObject({
      status: 'active',
      consecutive_failures: 0,
    });
    expect(await desk.breakers(destinationId)).toEqual([]);
    expect((await desk.receipts(destinationId)).at(-1)).toMatchObject({
      action: 'webhook.resumed',
      actor: { id: desk.admin.memberId },
      details: { consecutiveFailures: 20 },
    });
  });

  it('200: leaves an active one as it is, without a receipt', async () => {
    const destinationId = await desk.register();
    await desk.test.rows(
      'update webhook_destinations set consecutive_failures = 3 where destination_id = $1',
      [destinationId],
    );
    const before = [await desk.row(destinationId), await desk.receiptCount()];
    const { status, body } = await desk.client.post(`${path}/${destinationId}/resume`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'active', consecutiveFailures: 3 });
    expect([await desk.row(destinationId), await desk.receiptCount()]).toEqual(before);
  });

  it('409: leaves one that is gone as it is', async () => {
    const destinationId = await desk.register();
    await desk.becomes(destinationId, 'gone');
    const before = [await desk.row(destinationId), await desk.receiptCount()];
    const { status, body } = await desk.client.post(`${path}/${destinationId}/resume`);
    expect([status, body.error.code]).toEqual([409, 'INVALID_TRANSITION']);
    expect([await desk.row(destinationId), await desk.receiptCount()]).toEqual(before);
  });

  it('409: does not bring back one whose receiver says 410 at this moment', async () => {
    const destinationId = await desk.register();
    await desk.becomes(destinationId, 'paused');
    const { status } = await desk.meanwhile(
      `update webhook_destinations set status = 'gone' where destination_id = '${destinationId}'`,
      () => desk.client.post(`${path}/${destinationId}/resume`),
    );
    expect(status).toBe(409);
    expect(await desk.row(destinationId)).toMatchObject({ status: 'gone' });
  });
});
