import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeyExpiry } from '../../../src/platform/idempotency/key-expiry.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import type { Answer } from '../../support/client.js';
import { type Service, startService } from '../../support/processes.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { killWhileServing } from './kills.js';

const KEY = 'Idempotency-Key';
const REPLAYED = 'idempotent-replayed';

describe('Idempotency-Key', () => {
  let test: TestApp;
  beforeAll(async () => {
    // No worker: a draft would change what these tests look at.
    test = await startTestApp({ PROCESS_ROLE: 'api' });
  });
  afterAll(() => test.close());

  const newKey = () => newId('req');
  const post = (path: string, body: unknown, key: string) => test.owner.post(path, body, { [KEY]: key });
  /** A client whose address has used up nothing. */
  const fresh = async () => (await test.createMember(test.workspaceId, 'owner')) as typeof test.owner;
  const directives = async (text: string) =>
    (await test.rows('select 1 from directives where text = $1', [text])).length;
  const stored = async (key: string) =>
    (await test.rows('select status from idempotency_keys where key = $1', [key])).length;

  it('replays status, bytes, content type and Location, and says so', async () => {
    const key = newKey();
    const text = `Write down ${key}`;
    const first = await post('/directive', { text }, key);
    const again = await post('/directive', { text }, key);
    expect(first.status).toBe(201);
    expect(first.headers.get(REPLAYED)).toBeNull();
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.headers.get(REPLAYED)).toBe('true');
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await directives(text)).toBe(1);
  });

  it.each<[string, (text: string) => [path: string, body: unknown, headers?: Record<string, string>]]>([
    ['another body', (text) => ['/directive', { text: `${text}!` }]],
    ['the same body in other bytes', (text) => ['/directive', `{ "text": ${JSON.stringify(text)} }`]],
    ['another path', (text) => ['/directives', { directive: text, capo: 'ops' }]],
    ['another query', (text) => ['/directive?x=1', { text }]],
    ['another version', (text) => ['/directive', { text }, { 'X-Service-API-Version': '2026-04' }]],
  ])('refuses the key for %s with 422, before anything else', async (_case, other) => {
    const client = await fresh();
    const key = newKey();
    const text = `Write down ${key}`;
    expect((await client.post('/directive', { text }, { [KEY]: key })).status).toBe(201);
    const [path, body, headers] = other(text);
    const refused = await client.post(path, body, { ...headers, [KEY]: key });
    expect(refused.status).toBe(422);
    expect(refused.body.reason).toBe('idempotency_key_reused');
    expect(await directives(text)).toBe(1);
    expect((await client.post('/directive', { text }, { [KEY]: key })).headers.get(REPLAYED)).toBe('true');
  });

  it('takes "k" and k as the same key', async () => {
    const client = await fresh();
    const key = newKey();
    const first = await client.post('/directive', { text: key }, { [KEY]: `"${key}"` });
    const again = await client.post('/directive', { text: key }, { [KEY]: key });
    expect(again.text).toBe(first.text);
    expect(again.headers.get(REPLAYED)).toBe('true');
  });

  it.each([
    ['empty', ''],
    ['empty in quotes', '""'],
    ['256 characters', 'k'.repeat(256)],
    ['a space', 'a b'],
    ['not ASCII', 'cl\u00e9'],
    ['two of them', 'a, b'],
  ])('refuses a key that is %s with 400', async (_case, key) => {
    const client = await fresh();
    const text = `never ${newKey()}`;
    const refused = await client.post('/directive', { text }, { [KEY]: key });
    expect(refused.status).toBe(400);
    expect(refused.body.error.code).toBe('INVALID_IDEMPOTENCY_KEY');
    expect(await directives(text)).toBe(0);
  });

  it('takes a key of 255 characters', async () => {
    const client = await fresh();
    const key = newKey().padEnd(255, '~');
    expect((await client.post('/directive', { text: key }, { [KEY]: key })).status).toBe(201);
  });

  it('belongs to one member', async () => {
    const [one, other] = [await fresh(), await fresh()];
    const key = newKey();
    const first = await one.post('/directive', { text: key }, { [KEY]: key });
    const second = await other.post('/directive', { text: key }, { [KEY]: key });
    expect(second.status).toBe(201);
    expect(second.body.directiveId).not.toBe(first.body.directiveId);
  });

  /** An error that is replayed is the first one under the id of the new request. */
  function expectReplayed(first: Answer, again: Answer): void {
    expect(again.status).toBe(first.status);
    expect(again.headers.get(REPLAYED)).toBe('true');
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(again.body).toEqual({ ...first.body, requestId: again.headers.get('x-request-id') });
  }

  it('stores a 404 and replays it under the id of the new request, in both shapes', async () => {
    const versions: Record<string, string>[] = [{}, { 'X-Service-API-Version': '2026-04' }];
    for (const version of versions) {
      const key = newKey();
      const path = `/approvals/${newId('apr')}/approve`;
      const send = () => test.owner.post(path, undefined, { [KEY]: key, ...version });
      const [first, again] = [await send(), await send()];
      expect(first.status).toBe(404);
      expectReplayed(first, again);
    }
  });

  it('stores a 409, and keeps nothing of the act that failed', async () => {
    const { directiveId } = (await (await fresh()).post('/directive', { text: 'Cancel me' })).body;
    const path = `/directives/${directiveId}/cancel`;
    expect((await test.owner.post(path)).status).toBe(200);
    const receipts = () => test.rows('select 1 from receipts where directive_id = $1', [directiveId]);
    const before = (await receipts()).length;
    const key = newKey();
    const first = await post(path, undefined, key);
    const again = await post(path, undefined, key);
    expect(first.status).toBe(409);
    expectReplayed(first, again);
    expect((await receipts()).length).toBe(before);
  });

  it('does not store what says "try again"', async () => {
    const { approvalId } = (await (await fresh()).post('/directive', { text: 'Not drafted yet' })).body;
    const key = newKey();
    for (const [path, body] of [
      [`/approvals/${approvalId}/approve`, undefined],
      [`/approvals/${approvalId}/reject`, { feedback: 'Shorter', revise: true }],
    ] as const) {
      const first = await post(path, body, key);
      expect(first.body.error).toMatchObject({ code: 'APPROVAL_NOT_READY', status: 409 });
      expect(first.headers.get('retry-after')).toBe('1');
      const again = await post(path, body, key);
      expect(again.headers.get(REPLAYED)).toBeNull();
      expect(again.headers.get('retry-after')).toBe('1');
    }
    expect(await stored(key)).toBe(0);
  });

  it('does not store what a corrected request may try again', async () => {
    const client = await fresh();
    const viewer = await test.createMember(test.workspaceId, 'viewer');
    const key = newKey();
    const send = (headers: Record<string, string>, body: unknown) =>
      client.post('/directive', body, { [KEY]: key, ...headers });
    expect((await send({}, { text: '' })).status).toBe(422);
    expect((await send({}, '{')).status).toBe(400);
    expect((await send({ 'Content-Type': 'text/plain' }, 'x')).status).toBe(415);
    expect((await send({}, `{"text":"${'x'.repeat(2 ** 20)}"}`)).status).toBe(413);
    expect((await send({ 'x-service-token': 'no' }, { text: 'x' })).status).toBe(401);
    expect((await viewer.post('/directive', { text: 'x' }, { [KEY]: key })).status).toBe(403);
    expect(await stored(key)).toBe(0);
    expect((await send({}, { text: key })).status).toBe(201);
  });

  it('does not store a 500, whose act is undone', async () => {
    const client = await fresh();
    const key = newKey();
    await test.rows('alter table approvals rename to approvals_away');
    const failed = await client.post('/directive', { text: key }, { [KEY]: key });
    await test.rows('alter table approvals_away rename to approvals');
    expect(failed.status).toBe(500);
    expect(await stored(key)).toBe(0);
    expect(await directives(key)).toBe(0);
    expect((await client.post('/directive', { text: key }, { [KEY]: key })).status).toBe(201);
    expect(await directives(key)).toBe(1);
  });

  it('is valid for exactly 24 hours', async () => {
    const client = await fresh();
    const key = newKey();
    const send = () => client.post('/directive', { text: key }, { [KEY]: key });
    const age = (interval: string) =>
      test.rows('update idempotency_keys set created_at = now() - $2::interval where key = $1', [
        key,
        interval,
      ]);
    const first = await send();
    await age('23 hours 59 minutes 55 seconds');
    expect((await send()).text).toBe(first.text);
    await age('24 hours');
    const later = await send();
    expect(later.status).toBe(201);
    expect(later.headers.get(REPLAYED)).toBeNull();
    expect(later.body.directiveId).not.toBe(first.body.directiveId);
    expect((await send()).text).toBe(later.text);
  });

  it('frees an expired key for another request', async () => {
    const client = await fresh();
    const key = newKey();
    await client.post('/directive', { text: key }, { [KEY]: key });
    await test.rows(`update idempotency_keys set created_at = now() - interval '24 hours' where key = $1`, [
      key,
    ]);
    expect((await client.post('/directive', { text: `${key}!` }, { [KEY]: key })).status).toBe(201);
  });

  it('drops answers that no replay finds any more, and only those', async () => {
    const [old, young] = [newKey(), newKey()];
    for (const key of [old, young]) await test.owner.post('/directive', { text: key }, { [KEY]: key });
    await test.rows(`update idempotency_keys set created_at = now() - interval '25 hours' where key = $1`, [
      old,
    ]);
    await test.app.get(KeyExpiry, { strict: false }).drop();
    expect([await stored(old), await stored(young)]).toEqual([0, 1]);
  });

  it('is ignored by GET and HEAD, valid or not', async () => {
    const key = newKey();
    for (const header of [key, 'not valid']) {
      for (const method of ['GET', 'GET', 'HEAD']) {
        const headers = { [KEY]: header, 'x-service-token': test.owner.token! };
        const answer = await fetch(`${test.url}/api/pro/guardian`, { method, headers });
        expect(answer.status).toBe(200);
        expect(answer.headers.get(REPLAYED)).toBeNull();
      }
    }
    expect(await stored(key)).toBe(0);
  });
});

describe('Idempotency-Key over three processes', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(3, { PROCESS_ROLE: 'api' });
  }, 90_000);
  afterAll(() => service.close());

  // Three hundred kills, also at other moments: test/faults/idempotency.spec.ts.
  it(
    'has exactly one, whole effect when a process is killed before it answers',
    { timeout: 60_000 },
    async () => {
      expect(await killWhileServing(service, 1)).toMatchObject({ kills: 1, requests: 8, answered: 0 });
    },
  );

  it(
    'lets one of 100 parallel requests take effect, and answers all the same',
    { timeout: 60_000 },
    async () => {
      const key = newId('req');
      const text = `Once ${key}`;
      const [before] = await service.rows<{ count: number }>('select count(*)::int from approvals');
      const alive = service.processes.filter(({ exited }) => !exited);
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          service.client(alive[index % 3]).post('/directive', { text }, { [KEY]: key }),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      expect(answers.filter(({ headers }) => headers.get(REPLAYED) === null).length).toBe(1);
      expect((await service.rows('select 1 from directives where text = $1', [text])).length).toBe(1);
      expect((await service.rows('select 1 from approvals')).length).toBe(before!.count + 1);
    },
  );
});
