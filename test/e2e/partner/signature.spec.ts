import { sign } from '@octokit/webhooks-methods';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { signBody } from '../../../src/platform/signatures/body-signature.js';
import { Clock } from '../../../src/platform/kernel/clock.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { type Answer, Client } from '../../support/client.js';
import { flippedBits, flippedHeaders } from '../../support/flipped-bits.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { PartnerDesk, rotateSecret, SIGNATURE, traces } from './partner-desk.js';

const HOUR_MS = 3_600_000;

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

function post(body: Uint8Array | string, headers: Record<string, string>): Promise<Answer> {
  return new Client(test.url, undefined).post('/partner/induction', body, headers);
}

/** All that an answer tells, but for what differs with every request. */
function told({ status, body, headers }: Answer) {
  const { requestId: _own, ...said } = body;
  return { status, said, headers: [...headers.keys()].toSorted() };
}

async function expectRefused(answer: Answer | Promise<Answer>, what?: string): Promise<void> {
  const { status, body } = await answer;
  expect(status, what).toBe(401);
  expect(body, what).toMatchObject({
    error: { code: 'INVALID_SIGNATURE', status: 401 },
    reason: 'invalid_signature',
  });
}

describe('a signed request', () => {
  // The shortest ids that are valid, since each of its bits is tried.
  const small = () =>
    Buffer.from(
      JSON.stringify(
        desk.update({ customerEntitlementId: 'e', partnerTargetId: 't', partnerEventId: newId('req') }),
      ),
    );

  it('is refused with any bit of its body changed, and changes nothing', { timeout: 120_000 }, async () => {
    const body = small();
    const signature = await sign(desk.secret, body.toString());
    const before = await traces(test.rows, test.workspaceId);
    const copies = flippedBits(body);
    expect(copies.length).toBe(body.length * 8);
    await inBatches(copies, (copy, bit) =>
      expectRefused(post(copy, { [SIGNATURE]: signature }), `bit ${bit}`),
    );
    expect(await traces(test.rows, test.workspaceId)).toEqual(before);
    expect((await post(body, { [SIGNATURE]: signature })).status).toBe(202);
  });

  it(
    'is refused with any bit of its signature changed, and changes nothing',
    { timeout: 60_000 },
    async () => {
      const body = small();
      const signature = await sign(desk.secret, body.toString());
      const before = await traces(test.rows, test.workspaceId);
      const headers = flippedHeaders(signature);
      expect(headers.length).toBe(71 * 8);
      // What is no header at all never leaves the client, and Node's own parser would refuse it.
      const isHeader = (text: string) => !/[^\t\x20-\x7e\x80-\xff]/.test(text);
      const sendable = headers.filter(isHeader);
      expect(sendable.length).toBeGreaterThan(400);
      await inBatches(sendable, (header) => expectRefused(post(body, { [SIGNATURE]: header }), header));
      expect(await traces(test.rows, test.workspaceId)).toEqual(before);
      expect((await post(body, { [SIGNATURE]: signature })).status).toBe(202);
    },
  );

  it('is accepted when a library of somebody else signed it', async () => {
    const body = small().toString();
    const signature = await sign(desk.secret, body);
    expect(signature).toBe(signBody(Buffer.from(body), desk.secret));
    expect((await post(body, { [SIGNATURE]: signature })).status).toBe(202);
  });
});

describe('POST /partner/induction 401', () => {
  it.each<[string, (signature: string) => Record<string, string>]>([
    ['no signature', () => ({})],
    ['an empty one', () => ({ [SIGNATURE]: '' })],
    ['upper-case hex', (signature) => ({ [SIGNATURE]: signature.toUpperCase().replace('SHA', 'sha') })],
    ['another algorithm', (signature) => ({ [SIGNATURE]: signature.replace('sha256', 'sha512') })],
    ['the digest alone', (signature) => ({ [SIGNATURE]: signature.slice('sha256='.length) })],
    ['two of them', (signature) => ({ [SIGNATURE]: `${signature}, ${signature}` })],
    ['one under another name', (signature) => ({ 'x-hub-signature-256': signature })],
  ])('answers %s', async (_case, headersOf) => {
    const raw = JSON.stringify(desk.update());
    await expectRefused(post(raw, headersOf(await sign(desk.secret, raw))));
  });

  it.each([
    ['nothing', ''],
    ['a space', ' '],
    ['no JSON', 'hello'],
    ['half a JSON', '{"workspaceId":'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a text', '"wks_1"'],
    ['an object without a workspace', '{}'],
    ['a workspace that is no text', '{"workspaceId":17}'],
    ['a workspace that is a list', '{"workspaceId":["wks"]}'],
    ['a workspace that is no id', '{"workspaceId":"wks_1"}'],
    ['a workspace with a NUL', '{"workspaceId":"wks_\\u0000"}'],
    ['a workspace as prototype', '{"__proto__":{"workspaceId":"wks_1"}}'],
    ['brackets without end', '['.repeat(500_000)],
  ])('answers %s in the words of a bad signature', async (_case, raw) => {
    const bad = await post(JSON.stringify(desk.update()), { [SIGNATURE]: `sha256=${'0'.repeat(64)}` });
    const answer = await post(raw, { [SIGNATURE]: signBody(Buffer.from(raw), desk.secret) });
    await expectRefused(answer);
    expect(told(answer)).toEqual(told(bad));
  });

  it.each([
    ['faults of its fields', { metric: 'charm', delta: 7 }],
    ['an unknown property', { admin: true }],
    ['an old time', { firedAt: 1 }],
  ])('says nothing about %s without a signature', async (_case, change) => {
    await expectRefused(desk.send(desk.update(change), { [SIGNATURE]: `sha256=${'0'.repeat(64)}` }));
  });

  it('does not tell an unknown workspace, one without a secret and a bad signature apart', async () => {
    const bare = await test.createWorkspace();
    const wrong = { [SIGNATURE]: `sha256=${'0'.repeat(64)}` };
    const answers = await Promise.all([
      desk.send(desk.update(), wrong),
      desk.send(desk.update({ workspaceId: newId('wks') })),
      desk.send(desk.update({ workspaceId: bare.workspaceId })),
    ]);
    const [bad, unknown, without] = answers.map(told);
    expect(unknown).toEqual(bad);
    expect(without).toEqual(bad);
    // The same look-up for each of them.
    const trips = answers.map(({ headers }) => {
      const line = test.logs.find((log) => log['requestId'] === headers.get('x-request-id'));
      return line?.['roundTrips'];
    });
    expect(trips).toEqual([1, 1, 1]);
  });

  it('answers the secret of another workspace', async () => {
    const { workspaceId } = await test.createWorkspace();
    const other = await PartnerDesk.of(test, workspaceId);
    await expectRefused(other.send(desk.update()));
    await expectRefused(desk.send(other.update()));
    expect(await traces(test.rows, workspaceId)).toMatchObject({ events: 0, signals: 0 });
  });
});

describe('a secret that cannot be read', () => {
  it('is answered like one that is not there, until there is a new one', async () => {
    const { workspaceId } = await test.createWorkspace();
    const partner = await PartnerDesk.of(test, workspaceId);
    await test.rows(`update partner_secrets set sealed_secret = 'v1.x.y' where workspace_id = $1`, [
      workspaceId,
    ]);
    await expectRefused(partner.send(partner.update()));
    const next = new PartnerDesk(test.url, workspaceId, await rotateSecret(test, workspaceId));
    expect((await next.send(next.update())).status).toBe(202);
    await expectRefused(partner.send(partner.update()));
  });
});

describe('a rotated secret', () => {
  it('leaves the one before it 24 hours, and each older one nothing', async () => {
    const { workspaceId } = await test.createWorkspace();
    const first = await PartnerDesk.of(test, workspaceId);
    const second = await PartnerDesk.of(test, workspaceId);
    expect(second.secret).not.toBe(first.secret);
    await first.report();
    await second.report();
    const third = await PartnerDesk.of(test, workspaceId);
    await expectRefused(first.send(first.update()));
    await second.report();
    await third.report();

    const [row] = await test.rows<{ until: Date }>(
      'select previous_until as until from partner_secrets where workspace_id = $1',
      [workspaceId],
    );
    const clock = vi.spyOn(test.app.get(Clock), 'now');
    clock.mockReturnValue(row!.until.getTime() - 1);
    await second.report({ firedAt: row!.until.getTime() });
    clock.mockReturnValue(row!.until.getTime());
    await expectRefused(second.send(second.update({ firedAt: row!.until.getTime() })));
    await third.report({ firedAt: row!.until.getTime() });
  });

  it('is stored sealed, once per rotation in the receipts, and nowhere else', async () => {
    const { workspaceId } = await test.createWorkspace();
    const before = Date.now();
    const secrets = [await rotateSecret(test, workspaceId), await rotateSecret(test, workspaceId)];
    for (const secret of secrets) expect(secret).toMatch(/^[\w-]{43}$/);
    const kept = await test.rows<{ row: string; previous_until: Date }>(
      'select s::text as row, previous_until from partner_secrets s where workspace_id = $1',
      [workspaceId],
    );
    expect(kept).toHaveLength(1);
    const until = kept[0]!.previous_until.getTime();
    expect(until - before).toBeGreaterThanOrEqual(24 * HOUR_MS);
    expect(until - Date.now()).toBeLessThanOrEqual(24 * HOUR_MS);
    const receipts = await test.rows<{ action: string; body: string }>(
      'select action, body from receipts where workspace_id = $1 order by seq',
      [workspaceId],
    );
    expect(receipts.map(({ action }) => action)).toEqual([
      'partner_secret.created',
      'partner_secret.rotated',
    ]);
    const everything = JSON.stringify([kept, receipts, test.logs]);
    for (const secret of secrets) expect(everything).not.toContain(secret);
  });
});

async function inBatches<T>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < items.length; start += 16) {
    await Promise.all(items.slice(start, start + 16).map((item, offset) => work(item, start + offset)));
  }
}
