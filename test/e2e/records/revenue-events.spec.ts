import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SALE = { amount: 1250.5, currency: 'EUR', source: 'stripe' };

let test: TestApp;
let member: TestMember;
let operator: Client;
beforeAll(async () => {
  test = await startTestApp();
  member = await test.createMember(test.workspaceId, 'operator');
});
beforeEach(() => {
  // From an address of its own, since 30 calls a minute are all that one address has.
  operator = new Client(test.url, member.token);
});
afterAll(() => test.close());

const receipts = async (eventId: string): Promise<Record<string, unknown>[]> =>
  (
    await test.rows<{ body: string }>('select body from receipts where entity_id = $1 order by seq', [
      eventId,
    ])
  ).map(({ body }) => JSON.parse(body));

const stored = (externalId: string) =>
  test.rows('select * from revenue_events where external_id = $1', [externalId]);

describe('POST /revenue-events 201', () => {
  it('records the event with its receipt', async () => {
    const occurredAt = Date.now() - DAY_MS;
    const answer = await operator.post('/revenue-events', {
      ...SALE,
      description: 'Order 17',
      occurredAt,
      externalId: 'ch_1',
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      eventId: expect.stringMatching(/^rev_[0-9a-z]{26}$/),
      teamId: null,
      ...SALE,
      description: 'Order 17',
      occurredAt,
      externalId: 'ch_1',
      workPacketId: null,
      reverses: null,
      createdAt: expect.any(Number),
      duplicate: false,
    });
    const { eventId } = answer.body;
    expect(await stored('ch_1')).toMatchObject([
      {
        event_id: eventId,
        workspace_id: test.workspaceId,
        amount: '1250.5000',
        currency: 'EUR',
        occurred_at: new Date(occurredAt),
        recorded_by: { type: 'member', id: member.memberId },
      },
    ]);
    expect(await receipts(eventId)).toMatchObject([
      {
        action: 'revenue.recorded',
        actor: { type: 'member', id: member.memberId },
        entity: { type: 'revenue_event', id: eventId },
        details: { ...SALE, occurredAt, externalId: 'ch_1' },
        requestId: answer.headers.get('x-request-id'),
      },
    ]);
  });

  it('fills in what is not said', async () => {
    const before = Date.now();
    const { status, body } = await operator.post('/revenue-events', SALE);
    expect(status).toBe(201);
    expect(body).toMatchObject({ description: null, externalId: null });
    expect(body.occurredAt).toBe(body.createdAt);
    expect(body.createdAt).toBeGreaterThanOrEqual(before);
  });

  it.each([0.0001, -0.01, 9_999_999_999_999, -9_999_999_999_999.12, 1e12])(
    'keeps %d exactly',
    async (amount) => {
      const { status, body } = await operator.post('/revenue-events', { ...SALE, amount });
      expect(status).toBe(201);
      expect(body.amount).toBe(amount);
      const [row] = await test.rows<{ amount: string }>(
        'select amount from revenue_events where event_id = $1',
        [body.eventId],
      );
      expect(Number(row!.amount)).toBe(amount);
    },
  );

  it('records two events alike when nothing says they are one', async () => {
    const [first, second] = await Promise.all([
      operator.post('/revenue-events', SALE),
      operator.post('/revenue-events', SALE),
    ]);
    expect(first.body.eventId).not.toBe(second.body.eventId);
  });

  it('keeps the externalIds of two workspaces apart', async () => {
    const other = await test.createWorkspace();
    const event = { ...SALE, externalId: 'ch_3' };
    await operator.post('/revenue-events', event);
    expect((await other.owner.post('/revenue-events', { ...event, amount: 1 })).status).toBe(201);
    expect(await stored('ch_3')).toHaveLength(2);
  });

  it('takes a time a little ahead, as clocks differ', async () => {
    const occurredAt = Date.now() + 4 * 60_000;
    expect((await operator.post('/revenue-events', { ...SALE, occurredAt })).body.occurredAt).toBe(
      occurredAt,
    );
  });

  it('replays under the same Idempotency-Key', async () => {
    const key = { 'Idempotency-Key': 'revenue-1' };
    const first = await operator.post('/revenue-events', SALE, key);
    const second = await operator.post('/revenue-events', SALE, key);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.text).toBe(first.text);
  });
});

describe('POST /revenue-events 200', () => {
  it('answers the record of an event that was reported before, without a second receipt', async () => {
    const event = { ...SALE, externalId: 'ch_2' };
    const first = await operator.post('/revenue-events', event);
    const second = await test.owner.post('/revenue-events', event);
    expect(first.status).toBe(201);
    expect(second.status).toBe(200);
    expect(second.body).toEqual({ ...first.body, duplicate: true });
    expect(await stored('ch_2')).toHaveLength(1);
    expect(await receipts(first.body.eventId)).toHaveLength(1);
  });

  it('records one event however often it is sent at the same time', async () => {
    const event = { ...SALE, externalId: 'ch_race' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => operator.post('/revenue-events', event)),
    );
    const said = answers.map(({ status, body }) => `${status} ${body.duplicate}`);
    expect(said.toSorted()).toEqual([...Array.from({ length: 7 }, () => '200 true'), '201 false']);
    expect(new Set(answers.map(({ body }) => body.eventId)).size).toBe(1);
    expect(await stored('ch_race')).toHaveLength(1);
    expect(await receipts(answers[0]!.body.eventId)).toHaveLength(1);
  });

  it('replays a duplicate as what it was', async () => {
    const event = { ...SALE, externalId: 'ch_again' };
    await operator.post('/revenue-events', event);
    const key = { 'Idempotency-Key': 'revenue-again' };
    const first = await operator.post('/revenue-events', event, key);
    const second = await operator.post('/revenue-events', event, key);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.text).toBe(first.text);
  });
});

describe('POST /revenue-events 401', () => {
  it('answers a caller without a valid token', async () => {
    const answer = await operator.post('/revenue-events', SALE, { 'x-service-token': 'no' });
    expect(answer.status).toBe(401);
  });
});

describe('POST /revenue-events 403', () => {
  it('answers a viewer, and records nothing', async () => {
    const viewer = await test.createMember(test.workspaceId, 'viewer');
    const answer = await viewer.post('/revenue-events', { ...SALE, externalId: 'ch_viewer' });
    expect(answer.status).toBe(403);
    expect(answer.body.error.code).toBe('FORBIDDEN');
    expect(await stored('ch_viewer')).toEqual([]);
  });
});

describe('POST /revenue-events 409', () => {
  it.each([
    ['amount', { amount: 2 }],
    ['currency', { currency: 'USD' }],
    ['source', { source: 'paypal' }],
    ['description', { description: 'Another' }],
    ['time', { occurredAt: 1_700_000_000_000 }],
  ])('answers the same externalId with another %s', async (what, change) => {
    const event = { ...SALE, externalId: `ch_conflict_${what}` };
    const first = await operator.post('/revenue-events', event);
    const answer = await operator.post('/revenue-events', { ...event, ...change });
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({
      code: 'ALREADY_EXISTS',
      details: { eventId: first.body.eventId, externalId: event.externalId },
    });
    expect(await stored(event.externalId)).toHaveLength(1);
    expect(await receipts(first.body.eventId)).toHaveLength(1);
  });
});

describe('POST /revenue-events 422', () => {
  it.each([
    ['no amount', { amount: undefined }, 'amount'],
    ['an amount of nothing', { amount: 0 }, 'amount'],
    ['an amount as text', { amount: '12' }, 'amount'],
    ['five decimals', { amount: 1.00001 }, 'amount'],
    ['a number that JavaScript writes with an exponent', { amount: 1e-7 }, 'amount'],
    ['too large an amount', { amount: 1e13 }, 'amount'],
    ['too small an amount', { amount: -1e13 }, 'amount'],
    ['a currency in lower case', { currency: 'eur' }, 'currency'],
    ['a currency that is none', { currency: 'ZZZ' }, 'currency'],
    ['a currency that is no text', { currency: ['EUR'] }, 'currency'],
    ['an empty source', { source: ' ' }, 'source'],
    ['too long a source', { source: 'x'.repeat(201) }, 'source'],
    ['too long a description', { description: 'x'.repeat(2001) }, 'description'],
    ['an empty externalId', { externalId: '' }, 'externalId'],
    ['a time before all times', { occurredAt: -1 }, 'occurredAt'],
    ['a time as text', { occurredAt: '2026-01-01' }, 'occurredAt'],
    ['a time to come', { occurredAt: Date.now() + HOUR_MS }, 'occurredAt'],
    ['a time beyond all dates', { occurredAt: 1e300 }, 'occurredAt'],
    ['an unknown property', { eventId: 'rev_1' }, 'eventId'],
  ])('answers %s', async (_case, change, path) => {
    const answer = await operator.post('/revenue-events', { ...SALE, ...change });
    expect(answer.status).toBe(422);
    expect(answer.body.error.code).toBe('VALIDATION_FAILED');
    expect(answer.body.error.details.map((fault: { path: string }) => fault.path)).toEqual([path]);
  });
});
