import { gzipSync } from 'node:zlib';
import { sign } from '@octokit/webhooks-methods';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Clock } from '../../../src/platform/kernel/clock.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { PartnerDesk, SIGNATURE, traces, type Update } from './partner-desk.js';

let test: TestApp;
let desk: PartnerDesk;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
  desk = await PartnerDesk.of(test);
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => test.close());

const stored = (update: Update) =>
  test.rows('select * from partner_events where partner_event_id = $1', [update['partnerEventId']]);
const signal = async (signalId: string) =>
  (await test.rows('select * from signals where signal_id = $1', [signalId]))[0];
const receipts = async (entityId: unknown): Promise<Record<string, unknown>[]> =>
  (
    await test.rows<{ body: string }>('select body from receipts where entity_id = $1 order by seq', [
      entityId,
    ])
  ).map(({ body }) => JSON.parse(body));

/** What was done is nothing, whatever was answered. */
async function expectNoEffect(act: () => Promise<unknown>): Promise<void> {
  const before = await traces(test.rows, test.workspaceId);
  await act();
  expect(await traces(test.rows, test.workspaceId)).toEqual(before);
}

describe('POST /partner/induction 202', () => {
  it('keeps the update, with a signal and two receipts', async () => {
    const update = desk.update({
      customerEntitlementId: 'ent-first',
      metric: 'price_fit',
      delta: -0.15,
      priorConfidence: 0.7,
      newConfidence: 0.55,
      sourceServiceRef: { table: 'conversations', id: 'c-9' },
    });
    const before = Date.now();
    const answer = await desk.send(update);
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      accepted: true,
      duplicate: false,
      partnerEventId: update['partnerEventId'],
      signalId: expect.stringMatching(/^sig_[0-9a-z]{26}$/),
    });
    const { signalId } = answer.body;
    const [row] = await stored(update);
    expect(row).toMatchObject({
      workspace_id: test.workspaceId,
      customer_entitlement_id: 'ent-first',
      partner_target_id: 'target-3',
      metric: 'price_fit',
      delta: -0.15,
      new_confidence: 0.55,
      prior_confidence: 0.7,
      source_service_ref: { table: 'conversations', id: 'c-9' },
      fired_at: new Date(update['firedAt'] as number),
      signal_id: signalId,
    });
    expect((row!['received_at'] as Date).getTime()).toBeGreaterThanOrEqual(before);
    expect(await signal(signalId)).toMatchObject({
      type: 'confidence',
      severity: 'warning',
      title: 'Price fit of buyer ent-first fell to 55 %',
      body: 'Price fit fell from 70 % by 15 points to **55 %**.',
      score: 0.55,
      team_id: null,
      source: { type: 'partner', id: 'target-3' },
      entity: { type: 'buyer', id: 'ent-first' },
    });
    const requestId = answer.headers.get('x-request-id');
    expect(await receipts(update['partnerEventId'])).toMatchObject([
      {
        action: 'partner.confidence_updated',
        actor: { type: 'partner', id: 'target-3', via: 'api' },
        entity: { type: 'partner_event' },
        outcome: 'success',
        summary: 'Partner persona service reported: Price fit of buyer ent-first fell to 55 %.',
        details: {
          metric: 'price_fit',
          delta: -0.15,
          newConfidence: 0.55,
          priorConfidence: 0.7,
          sourceServiceRef: { table: 'conversations', id: 'c-9' },
          firedAt: update['firedAt'],
          customerEntitlementId: 'ent-first',
          partnerTargetId: 'target-3',
          signalId,
          isNewest: true,
        },
        requestId,
      },
    ]);
    expect(await receipts(signalId)).toMatchObject([
      { action: 'signal.raised', actor: { type: 'partner', id: 'target-3' }, requestId },
    ]);
    expect((await test.owner.get('/audit-feed/verify')).body).toMatchObject({ ok: true });
  });

  it.each([
    [-1, 'critical'],
    [-0.3, 'critical'],
    [-0.29, 'warning'],
    [-0.1, 'warning'],
    [-0.09, 'info'],
    [0, 'info'],
    [1, 'info'],
  ])('raises a signal for a change of %d that is %s', async (delta, severity) => {
    const { answer } = await desk.report({ delta });
    expect(await signal(answer.signalId)).toMatchObject({ severity });
  });

  it.each([
    [0.5, 0.1, 0.59],
    [0.5, 0.1, 0.61],
    [0, 0, 0],
    [1, 0, 1],
    [0.33, 0.33, 0.66],
    [0.9, -0.2, 0.7],
  ])('takes a prior of %d, a delta of %d and a new confidence of %d', async (prior, delta, newConfidence) => {
    const { answer } = await desk.report({ priorConfidence: prior, delta, newConfidence });
    expect(await signal(answer.signalId)).toBeDefined();
  });

  it('needs no token, and is helped by none', async () => {
    const update = JSON.stringify(desk.update());
    const bad = await test.owner.post('/partner/induction', update);
    expect(bad.status).toBe(401);
    expect(bad.body.error.code).toBe('INVALID_SIGNATURE');
    expect((await desk.sendRaw(update, { 'x-service-token': 'no' })).status).toBe(202);
  });

  it('takes the bytes as they are, however the JSON is written', async () => {
    const raw = `  ${JSON.stringify(desk.update({ customerEntitlementId: 'ent-\u{1f642}' }), null, 4)}\n`;
    expect((await desk.sendRaw(raw)).status).toBe(202);
  });

  it('takes the same partnerEventId from two workspaces', async () => {
    const other = await PartnerDesk.of(test, (await test.createWorkspace()).workspaceId);
    const update = desk.update();
    expect((await desk.send(update)).status).toBe(202);
    expect((await other.send({ ...update, workspaceId: other.workspaceId })).status).toBe(202);
    expect(await stored(update)).toHaveLength(2);
  });

  it('takes part in no idempotency but its own', async () => {
    const headers = { 'Idempotency-Key': newId('req') };
    const first = await desk.send(desk.update(), headers);
    const second = await desk.send(desk.update(), headers);
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.body.signalId).not.toBe(first.body.signalId);
    expect(await test.rows('select 1 from idempotency_keys')).toEqual([]);
  });

  it('costs two round trips after the look-up of the secret', async () => {
    const answer = await desk.send(desk.update());
    const line = test.logs.find((log) => log['requestId'] === answer.headers.get('x-request-id'));
    expect(line).toMatchObject({
      status: 202,
      route: '/api/pro/partner/induction',
      workspaceId: test.workspaceId,
      roundTrips: 3,
    });
  });
});

describe('POST /partner/induction 200', () => {
  it('answers the same update again with the first signal, and does nothing', async () => {
    const { update, answer: first } = await desk.report();
    await expectNoEffect(async () => {
      const again = await desk.send(update);
      expect(again.status).toBe(200);
      expect(again.body).toEqual({ ...first, duplicate: true });
    });
  });

  it('knows the content again, whatever its bytes', async () => {
    const { update, answer } = await desk.report({ priorConfidence: null });
    const { priorConfidence: _none, ...said } = update;
    const raw = JSON.stringify(Object.fromEntries(Object.entries(said).toReversed()), null, 2);
    const again = await desk.sendRaw(raw.replace('0.45', '0.450'));
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...answer, duplicate: true });
  });
});

describe('POST /partner/induction 400', () => {
  const NOW = Date.UTC(2026, 10, 20, 12, 0, 0, 250);

  it.each([
    [300, 202],
    [-300, 202],
    [301, 400],
    [-301, 400],
    [86_400, 400],
    [-86_400, 400],
  ])('tells an update that was fired %d s ago by %d', async (seconds, status) => {
    vi.spyOn(test.app.get(Clock), 'now').mockReturnValue(NOW);
    const update = desk.update({ firedAt: NOW - seconds * 1000 });
    const answer = await desk.send(update);
    expect(answer.status).toBe(status);
    expect(await stored(update)).toHaveLength(status === 202 ? 1 : 0);
    if (status === 400) {
      expect(answer.body).toMatchObject({
        error: { code: 'STALE_EVENT', status: 400, details: { firedAt: update['firedAt'], serverTime: NOW } },
        reason: 'stale_event',
      });
    }
  });

  it('comes before the dedupe: what was accepted is stale as well by then', async () => {
    const { update } = await desk.report();
    vi.spyOn(test.app.get(Clock), 'now').mockReturnValue((update['firedAt'] as number) + 301_000);
    await expectNoEffect(async () => expect((await desk.send(update)).body.reason).toBe('stale_event'));
  });

  it('refuses a signed body that names a property twice', async () => {
    const raw = JSON.stringify(desk.update()).replace('{', '{"metric":"urgency",');
    const answer = await desk.sendRaw(raw);
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe('MALFORMED_JSON');
  });

  it('refuses an unknown version before anything else', async () => {
    const answer = await desk.send(desk.update(), { 'X-Service-API-Version': '2020-01' });
    expect(answer.body.error.code).toBe('UNSUPPORTED_API_VERSION');
  });
});

describe('POST /partner/induction 409', () => {
  it.each<[string, Update]>([
    ['customerEntitlementId', { customerEntitlementId: 'ent-18' }],
    ['partnerTargetId', { partnerTargetId: 'target-4' }],
    ['metric', { metric: 'overall' }],
    ['delta', { delta: -0.21 }],
    ['newConfidence', { newConfidence: 0.46 }],
    ['priorConfidence', { priorConfidence: 0.65 }],
    ['sourceServiceRef', { sourceServiceRef: { table: 't', id: '1' } }],
  ])('answers the same id with another %s, and changes nothing', async (_what, change) => {
    const { update } = await desk.report();
    await expectNoEffect(async () => {
      const answer = await desk.send({ ...update, ...change });
      expect(answer.status).toBe(409);
      expect(answer.body.error).toMatchObject({
        code: 'ALREADY_EXISTS',
        details: { partnerEventId: update['partnerEventId'] },
      });
    });
  });

  it('answers the same id with another time', async () => {
    const { update } = await desk.report();
    const answer = await desk.send({ ...update, firedAt: (update['firedAt'] as number) + 1 });
    expect(answer.status).toBe(409);
  });
});

describe('POST /partner/induction 401, 413 and 415', () => {
  it('answers 413 to a body over 1 MB before its signature is looked at', async () => {
    const answer = await desk.sendRaw(JSON.stringify({ ...desk.update(), more: 'x'.repeat(1024 * 1024) }), {
      [SIGNATURE]: 'none',
    });
    expect(answer.status).toBe(413);
  });

  it('answers 415 to a signed body of another type, and 401 to the same unsigned', async () => {
    const update = JSON.stringify(desk.update());
    expect((await desk.sendRaw(update, { 'Content-Type': 'text/plain' })).status).toBe(415);
    const unsigned = { 'Content-Type': 'text/plain', [SIGNATURE]: await sign('another secret', update) };
    expect((await desk.sendRaw(update, unsigned)).status).toBe(401);
  });

  it('unpacks nothing', async () => {
    const packed = gzipSync(JSON.stringify(desk.update()));
    const client = new Client(test.url, undefined);
    const answer = await client.send('POST', '/partner/induction', packed, {
      [SIGNATURE]: await sign(desk.secret, packed.toString('latin1')),
      'Content-Encoding': 'gzip',
    });
    expect(answer.status).toBe(401);
  });
});

describe('POST /partner/induction 422', () => {
  it.each<[string, Update, string]>([
    ['no entitlement', { customerEntitlementId: undefined }, 'customerEntitlementId'],
    ['an entitlement that is no text', { customerEntitlementId: 17 }, 'customerEntitlementId'],
    ['an empty entitlement', { customerEntitlementId: '' }, 'customerEntitlementId'],
    ['an entitlement of two lines', { customerEntitlementId: 'a\nb' }, 'customerEntitlementId'],
    ['too long an entitlement', { customerEntitlementId: 'x'.repeat(201) }, 'customerEntitlementId'],
    ['no target', { partnerTargetId: undefined }, 'partnerTargetId'],
    ['no event id', { partnerEventId: undefined }, 'partnerEventId'],
    ['too long an event id', { partnerEventId: 'x'.repeat(201) }, 'partnerEventId'],
    ['a metric that is none', { metric: 'charm' }, 'metric'],
    ['a metric in upper case', { metric: 'TRUST' }, 'metric'],
    ['no delta', { delta: undefined }, 'delta'],
    ['a delta as text', { delta: '0.1' }, 'delta'],
    ['too large a delta', { delta: 1.0001 }, 'delta'],
    ['too small a delta', { delta: -1.0001 }, 'delta'],
    ['no confidence', { newConfidence: undefined }, 'newConfidence'],
    ['a confidence below nothing', { newConfidence: -0.0001 }, 'newConfidence'],
    ['a confidence above all', { newConfidence: 1.0001 }, 'newConfidence'],
    ['a prior confidence below nothing', { priorConfidence: -0.01 }, 'priorConfidence'],
    ['a prior confidence above all', { priorConfidence: 1.01 }, 'priorConfidence'],
    [
      'figures that contradict each other',
      { priorConfidence: 0.5, delta: 0.1, newConfidence: 0.62 },
      'newConfidence',
    ],
    [
      'figures that just contradict each other',
      { priorConfidence: 0.5, delta: 0.1, newConfidence: 0.5899 },
      'newConfidence',
    ],
    ['a reference that is no object', { sourceServiceRef: 'c-9' }, 'sourceServiceRef'],
    ['a reference without a table', { sourceServiceRef: { id: '1' } }, 'sourceServiceRef.table'],
    ['a reference with more', { sourceServiceRef: { table: 't', id: '1', x: 1 } }, 'sourceServiceRef.x'],
    ['no time', { firedAt: undefined }, 'firedAt'],
    ['a time with a fraction', { firedAt: Date.now() + 0.5 }, 'firedAt'],
    ['a time as text', { firedAt: '2026-11-20T12:00:00Z' }, 'firedAt'],
    ['a customer beside the entitlement', { customerId: 'c-1' }, 'customerId'],
  ])('answers %s, and keeps nothing', async (_case, change, path) => {
    await expectNoEffect(async () => {
      const answer = await desk.send(desk.update(change));
      expect(answer.status).toBe(422);
      expect(answer.body.error.code).toBe('VALIDATION_FAILED');
      expect(answer.body.error.details.map((fault: { path: string }) => fault.path)).toContain(path);
    });
  });

  it('lists every fault at once', async () => {
    const answer = await desk.send({ workspaceId: desk.workspaceId });
    const paths = answer.body.error.details.map((fault: { path: string }) => fault.path);
    expect(new Set(paths)).toEqual(
      new Set([
        ...[
          'customerEntitlementId',
          'partnerTargetId',
          'partnerEventId',
          'metric',
          'delta',
          'newConfidence',
          'firedAt',
        ],
      ]),
    );
  });

  it.each([
    ['a reserved name', '"__proto__": {}'],
    ['a NUL', '"partnerTargetId2": "\\u0000"'],
    ['half a character', '"partnerTargetId2": "\\ud800"'],
    ['too large a number', '"x": 1e400'],
  ])('answers a signed body with %s', async (_case, member) => {
    const raw = JSON.stringify(desk.update()).replace('{', `{${member},`);
    expect((await desk.sendRaw(raw)).status).toBe(422);
  });
});

describe('POST /partner/induction 429', () => {
  beforeEach(() => test.clock.stopAtMinute());
  afterEach(() => test.clock.goOn());

  it('counts before the signature is looked at: 60 strangers of one address, and the partner waits too', async () => {
    const client = new Client(test.url, undefined);
    const raw = JSON.stringify(desk.update());
    const signed = { [SIGNATURE]: await sign(desk.secret, raw) };
    for (let left = 59; left >= 0; left--) {
      const answer = await client.post('/partner/induction', raw, { [SIGNATURE]: 'sha256=00' });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('x-ratelimit-limit')).toBe('60');
      expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(left));
    }
    await expectNoEffect(async () => {
      const answer = await client.post('/partner/induction', raw, signed);
      expect(answer.status).toBe(429);
      expect(answer.body.error).toMatchObject({
        code: 'RATE_LIMITED',
        details: { policy: 'route', limit: 60 },
      });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    });
    expect((await desk.sendRaw(raw)).status).toBe(202);
  });

  it("leaves the workspace's own share alone", async () => {
    const { workspaceId, owner } = await test.createWorkspace('free');
    const free = await PartnerDesk.of(test, workspaceId);
    for (let index = 0; index < 12; index++) await free.report();
    const { status, headers } = await owner.get('/guardian');
    expect([status, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual([
      200,
      '10',
      '9',
    ]);
  });
});
