import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const DAY_MS = 86_400_000;
const NOON = 1_771_400_000_000;

let test: TestApp;
let viewerToken: string;
let viewer: Client;
const ids: string[] = [];

beforeAll(async () => {
  test = await startTestApp();
  viewerToken = (await test.createMember(test.workspaceId, 'viewer')).token;
  const events = [
    { amount: 100, currency: 'EUR', source: 'stripe', occurredAt: NOON },
    { amount: 200.5, currency: 'USD', source: 'stripe', occurredAt: NOON + DAY_MS, externalId: 'ch_2' },
    { amount: -50, currency: 'EUR', source: 'Acme', occurredAt: NOON + 2 * DAY_MS, description: 'Refund' },
  ];
  for (const event of events) ids.unshift((await test.owner.post('/revenue-events', event)).body.eventId);
});
beforeEach(() => {
  viewer = new Client(test.url, viewerToken);
});
afterAll(() => test.close());

interface Item {
  eventId: string;
}
const listed = (body: { items: Item[] }) => body.items.map(({ eventId }) => eventId);

describe('GET /revenue-events 200', () => {
  it('lists what was earned, the latest first', async () => {
    const { status, body } = await viewer.get('/revenue-events');
    expect(status).toBe(200);
    expect(listed(body)).toEqual(ids);
    expect(body).toMatchObject({ total: 3, limit: 20, offset: 0, nextCursor: null });
    expect(body.items[0]).toEqual({
      eventId: ids[0],
      teamId: null,
      amount: -50,
      currency: 'EUR',
      source: 'Acme',
      description: 'Refund',
      occurredAt: NOON + 2 * DAY_MS,
      externalId: null,
      workPacketId: null,
      reverses: null,
      createdAt: expect.any(Number),
    });
  });

  it.each([
    ['source=stripe', [1, 2]],
    ['source=STRIPE', []],
    ['currency=EUR', [0, 2]],
    ['currency=EUR&source=stripe', [2]],
    [`since=${NOON + DAY_MS}`, [0, 1]],
    [`until=${NOON + DAY_MS}`, [2]],
    [`since=${NOON}&until=${NOON + 2 * DAY_MS}`, [1, 2]],
    [`since=${NOON + 1}&until=${NOON + 2}`, []],
    [`currency=EUR&since=${NOON + 1}`, [0]],
  ])('narrows by %s, the end not included', async (query, numbers) => {
    const { status, body } = await viewer.get(`/revenue-events?${query}`);
    expect(status).toBe(200);
    expect(listed(body)).toEqual(numbers.map((number) => ids[number]));
    expect(body.total).toBe(numbers.length);
  });

  it('shows nothing of another workspace, with its cursor neither', async () => {
    const { owner } = await test.createWorkspace();
    const { nextCursor } = (await viewer.get('/revenue-events?limit=1')).body;
    expect(nextCursor).not.toBeNull();
    expect((await owner.get('/revenue-events')).body).toMatchObject({ items: [], total: 0 });
    expect((await owner.get(`/revenue-events?cursor=${nextCursor}`)).body.items).toEqual([]);
  });

  it('reads on behind the last item though events are recorded in between', async () => {
    const { owner } = await test.createWorkspace();
    const recorded: string[] = [];
    const record = async (occurredAt: number) =>
      (await owner.post('/revenue-events', { amount: 1, currency: 'EUR', source: 'x', occurredAt })).body
        .eventId;
    // Events of one moment are told apart by their ids.
    for (let n = 0; n < 6; n++) recorded.push(await record(NOON));
    const first = (await owner.get('/revenue-events?limit=3')).body;
    await record(NOON + 1);
    const second = (await owner.get(`/revenue-events?limit=3&cursor=${first.nextCursor}`)).body;
    expect([...listed(first), ...listed(second)]).toEqual(recorded.toSorted().toReversed());
    expect(second.nextCursor).toBeNull();
  });
});

describe('GET /revenue-events 401', () => {
  it('answers a caller without a token', async () => {
    const answer = await new Client(test.url, undefined).get('/revenue-events');
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ error: { code: 'UNAUTHORIZED' }, reason: 'missing_token' });
  });
});

describe('GET /revenue-events 422', () => {
  it.each([
    ['currency', 'currency=eur'],
    ['source', 'source='],
    ['source', `source=${'x'.repeat(201)}`],
    ['since', 'since=yesterday'],
    ['since', 'since=-1'],
    ['until', 'until=999999999999999999'],
    ['until', `since=${NOON}&until=${NOON - 1}`],
    ['offset', 'offset=10001'],
    ['colour', 'colour=red'],
    ['cursor', 'cursor=%25'],
  ])('names a wrong %s once: %s', async (path, query) => {
    const { status, body } = await viewer.get(`/revenue-events?${query}`);
    expect(status).toBe(422);
    expect(body.error.details.map((fault: { path: string }) => fault.path)).toEqual([path]);
  });
});
