import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  Consigliere,
  ContentChangedError,
  type LogEntry,
  NotFoundError,
  PermissionDeniedError,
  PreconditionRequiredError,
  RateLimitError,
  ServiceError,
  TimeoutError,
  UnprocessableError,
  UnreadableAnswer,
} from '@consigliere/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { type Fault, HostileProxy } from './hostile-proxy.js';

let test: TestApp;
let admin: TestMember;
let proxy: HostileProxy;
let client: Consigliere;

beforeAll(async () => {
  test = await startTestApp();
  admin = await test.createMember(test.workspaceId, 'admin');
  proxy = await HostileProxy.start(test.url);
  client = new Consigliere({ baseUrl: proxy.url, token: admin.token });
});
beforeEach(() => void proxy.take());
afterEach(() => void proxy.faults.splice(0));
afterAll(async () => {
  await proxy?.close();
  await test?.close();
});

/** A change whose effects can be counted. */
const record = (source: string, options?: Parameters<Consigliere['revenueEvents']['record']>[1]) =>
  client.revenueEvents.record({ amount: 5, currency: 'USD', source }, options);
const effectsOf = async (source: string) =>
  (await test.rows('select 1 from revenue_events where source = $1', [source])).length;
const keys = () => new Set(proxy.seen.map(({ headers }) => headers['idempotency-key']));
const SOON = { 'Retry-After': '0' };
const IN_PROGRESS = {
  headers: { ...SOON, 'Content-Type': 'application/json' },
  body: JSON.stringify({
    error: 'idempotency_in_progress',
    reason: 'idempotency_in_progress',
    message: 'Wait.',
  }),
};
const failureOf = (call: PromiseLike<unknown>) =>
  Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a change', () => {
  const passing: [string, Fault[]][] = [
    ['a reset before and one after the service had it', ['reset', 'lost answer']],
    ['an answer that breaks off', ['cut body', 'cut body']],
    ['a lost answer, and a request that arrives twice', ['lost answer', 'twice']],
    ['an answer that comes twice', ['two answers']],
    ['a proxy that answers 502 with a page', ['bad gateway', 'bad gateway']],
    ['408, and 409 while the same change is in progress', [{ status: 408 }, { status: 409, ...IN_PROGRESS }]],
    [
      '429 and 503 with Retry-After',
      [
        { status: 429, headers: SOON },
        { status: 503, headers: SOON },
      ],
    ],
    [
      'Retry-After as a date',
      [{ status: 503, headers: { 'Retry-After': new Date(Date.now() - 1_000).toUTCString() } }],
    ],
  ];
  it.each(passing)('has one effect and one key over %s', async (name, faults) => {
    proxy.faults.push(...faults);
    await record(name.slice(0, 50));
    expect(await effectsOf(name.slice(0, 50))).toBe(1);
    const isAnswered = ['twice', 'two answers'].includes(faults.at(-1) as string);
    expect(proxy.seen).toHaveLength(isAnswered ? faults.length : faults.length + 1);
    expect(keys().size).toBe(1);
    expect([...keys()][0]).toMatch(/^[\w-]{36}$/);
  });

  it.each<[string, Fault]>([
    ['the head of the answer', 'silence'],
    ['its body', 'slow body'],
  ])('is given up when %s takes too long, and sent again with its key', async (name, fault) => {
    proxy.faults.push(fault);
    await record(name, { timeout: 400 });
    expect(await effectsOf(name)).toBe(1);
    expect(keys().size).toBe(1);
    proxy.faults.push(fault);
    const failure = await failureOf(record(`${name} 2`, { timeout: 400, maxRetries: 0 }));
    expect(failure).toBeInstanceOf(TimeoutError);
    expect(failure).toMatchObject({ message: 'No complete response within 400 ms.' });
  });

  it('is not sent again where that would not help', async () => {
    const refusals: Fault[] = [
      { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{"cut": ' },
      { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<html>Sign in to the Wi-Fi</html>' },
      { status: 404, headers: { 'Content-Type': 'text/html' }, body: '<html>nginx</html>' },
    ];
    for (const refusal of refusals) {
      proxy.faults.push(refusal);
      const failure = await failureOf(record('never'));
      expect(failure).toBeInstanceOf(UnreadableAnswer);
      expect((failure as Error).message).toContain('check baseUrl');
      expect(proxy.take()).toHaveLength(1);
    }
    proxy.faults.push({ status: 429, headers: { 'Retry-After': '86400' } });
    expect(await failureOf(record('never'))).toMatchObject({ status: 429 });
    expect(proxy.take()).toHaveLength(1);
    expect(await effectsOf('never')).toBe(0);
  });

  it('does not follow a redirect, to which the token would go', async () => {
    const other = await listening();
    const location = `${other.url}/api/pro/revenue-events`;
    proxy.faults.push({ status: 307, headers: { Location: location } });
    const failure = await failureOf(record('redirected'));
    expect(failure).toMatchObject({ status: 307, message: expect.stringContaining(location) });
    expect(other.requests).toBe(0);
    other.server.close();
  });

  it('ends when its signal does, with the reason, also while it waits to be sent again', async () => {
    const reason = new Error('The person left.');
    proxy.faults.push({ status: 503, headers: { 'Retry-After': '30' } });
    const waiting = record('aborted', { signal: AbortSignal.any([aborted(reason, 200)]) });
    expect(await failureOf(waiting)).toBe(reason);
    expect(await failureOf(record('aborted', { signal: AbortSignal.abort(reason) }))).toBe(reason);
    proxy.faults.push('silence');
    expect(await failureOf(record('aborted', { signal: aborted(reason, 200) }))).toBe(reason);
    expect(proxy.take()).toHaveLength(2);
  });

  it('has the key that it was given', async () => {
    const [first, second] = [
      await record('named', { idempotencyKey: 'k1' }),
      await record('named', { idempotencyKey: 'k1' }),
    ];
    expect(second).toEqual(first);
    expect(await effectsOf('named')).toBe(1);
    const reused = await failureOf(record('named otherwise', { idempotencyKey: 'k1' }));
    expect(reused).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
  });
});

describe('a failure', () => {
  it('has the class of its status, and what the service says', async () => {
    const { directiveId, approvalId } = await client.directives.create({
      directive: 'Email jane@acme.example, subject "Your order": "It ships on Friday."',
      capo: 'capo_ops',
    });
    await client.approvals.waitFor(approvalId!, { for: 'draft' });
    const viewer = await test.createMember(test.workspaceId, 'viewer');
    const as = (token: string, more = {}) => new Consigliere({ baseUrl: proxy.url, token, ...more });
    await client.teams.create({ name: 'Twice' });
    const failures = await Promise.all([
      failureOf(as('cons_unknown').kpi.get()),
      failureOf(as(viewer.token).directives.cancel(directiveId)),
      failureOf(client.directives.get(newId('dir'))),
      failureOf(client.teams.create({ name: 'Twice' })),
      failureOf(client.approvals.approve(approvalId!, { ifMatch: 'f'.repeat(64) })),
      failureOf(client.approvals.edit(approvalId!, { packets: [] })),
      failureOf(client.directives.create({ directive: '', capo: 'nobody' as 'ceo' })),
      failureOf(client.request('POST', '/api/pro/directives', { idempotencyKey: 'a b', body: {} })),
    ]);
    expect(failures.map((failure) => (failure as { constructor: unknown }).constructor)).toEqual([
      AuthenticationError,
      PermissionDeniedError,
      NotFoundError,
      ConflictError,
      ContentChangedError,
      PreconditionRequiredError,
      UnprocessableError,
      BadRequestError,
    ]);
    for (const failure of failures)
      expect(failure).toMatchObject({ requestId: expect.stringMatching(/^req_/) });
    expect(failures[0]).toMatchObject({ status: 401, code: 'UNAUTHORIZED', reason: 'invalid_token' });
    expect(failures[1]).toMatchObject({ code: 'FORBIDDEN', details: { requiredRoles: expect.any(Array) } });
    expect(failures[4]).toMatchObject({
      code: 'CONTENT_CHANGED',
      details: { contentHash: expect.any(String) },
    });
    expect((failures[6] as Error).message).toMatch(/directive.*capo/s);
  });

  it('says how long to wait, and what cannot be reached', async () => {
    const body = JSON.stringify({
      error: 'rate_limited',
      reason: 'rate_limited',
      message: 'Slowly.',
      requestId: 'req_1',
      status: 429,
    });
    const headers = { 'Content-Type': 'application/json', 'Retry-After': '3600' };
    proxy.faults.push({ status: 429, headers, body });
    const limited = await failureOf(client.kpi.get());
    expect(limited).toBeInstanceOf(RateLimitError);
    expect(limited).toMatchObject({
      retryAfter: 3600,
      code: 'RATE_LIMITED',
      message: 'Slowly.',
      requestId: 'req_1',
    });
    proxy.faults.push({
      status: 503,
      headers: { ...headers, 'Retry-After': new Date(Date.now() + 3_600_000).toUTCString() },
      body,
    });
    const away = await failureOf(client.kpi.get());
    expect(away).toBeInstanceOf(ServiceError);
    expect(Math.abs((away as ServiceError).retryAfter! - 3_600)).toBeLessThan(10);

    const gone = await listening();
    gone.server.close();
    const nowhere = new Consigliere({ baseUrl: gone.url, token: 'cons_x', maxRetries: 0 });
    const unreachable = await failureOf(nowhere.kpi.get());
    expect(unreachable).toBeInstanceOf(ConnectionError);
    expect(unreachable).toMatchObject({ message: `${gone.url} cannot be reached: ECONNREFUSED.` });
  });

  it('is heard by whoever asks for the whole answer, and by nobody else', async () => {
    const unheard: unknown[] = [];
    const hear = (error: unknown) => unheard.push(error);
    process.on('unhandledRejection', hear);
    try {
      const failure = await failureOf(client.directives.get(newId('dir')).withResponse());
      expect(failure).toBeInstanceOf(NotFoundError);
      await pause(20);
      expect(unheard).toEqual([]);
    } finally {
      process.off('unhandledRejection', hear);
    }
  });

  it.each([
    [{ token: '' }, 'There is no token'],
    [{ token: 'cons_a\nb' }, 'The token has an invalid character'],
    [{ token: 'cons_a', baseUrl: 'consigliere.example' }, 'baseUrl must be the address'],
    [{ token: 'cons_a', baseUrl: 'https://me:secret@consigliere.example' }, 'baseUrl must be the address'],
  ])('of a client that cannot be made says why and quotes no secret', (options, message) => {
    expect(() => new Consigliere(options)).toThrow(message);
    expect(() => new Consigliere(options)).not.toThrow(/secret|cons_/);
  });

  it.each([
    [undefined, 'There is no token'],
    ['cons_a\nb', 'The token has an invalid character'],
  ])('of a token that is fetched says why and does not quote it: %j', async (token, message) => {
    const fetched = new Consigliere({ baseUrl: proxy.url, token: () => token as string });
    expect(await failureOf(fetched.kpi.get())).toMatchObject({ message: expect.stringContaining(message) });
    expect(String(await failureOf(fetched.kpi.get()))).not.toContain('cons_');
    expect(proxy.take()).toEqual([]);
  });
});

describe('an answer', () => {
  it('comes with its status, headers and request where wanted', async () => {
    const { data, response, requestId } = await client.guardian.get().withResponse();
    expect(data.mode).toBe('guardrailed');
    expect(response.status).toBe(200);
    expect(requestId).toBe(response.headers.get('x-request-id'));
    expect(response.headers.get('x-service-api-version')).toBe('2026-04');
    expect(proxy.seen[0]!.headers).not.toHaveProperty('idempotency-key');
  });

  it('can be text, and lines', async () => {
    const lines = await client.request<string>('GET', '/api/pro/audit-feed', {
      query: { format: 'jsonl', limit: 2 },
    });
    expect(lines.trim().split('\n')).toHaveLength(2);
    const opened = await client.open('GET', '/api/pro/audit-feed', { query: { format: 'csv' } });
    expect(await opened.text()).toContain('receiptId');
  });

  it('is logged without a secret', async () => {
    const entries: LogEntry[] = [];
    const logger = {
      debug: (entry: LogEntry) => entries.push(entry),
      warn: (entry: LogEntry) => entries.push(entry),
    };
    const logged = new Consigliere({ baseUrl: proxy.url, token: admin.token, logger });
    proxy.faults.push('reset');
    const secret = 'a secret of sixteen characters or more';
    await failureOf(
      logged.webhooks.create({ event: 'report.daily', url: `https://127.0.0.1/${secret}`, secret }),
    );
    await logged.directives.list({ teamId: 'team_of_secrets' }).catch(() => undefined);
    await logged.request('GET', '/api/pro/kpi?teamId=team_of_secrets').catch(() => undefined);
    expect(entries.map(({ attempt, status, error }) => [attempt, status, error])).toEqual([
      [1, undefined, 'ConnectionError'],
      [2, 422, 'INVALID_DESTINATION'],
      [1, 422, 'VALIDATION_FAILED'],
      [1, 422, 'VALIDATION_FAILED'],
    ]);
    // When it is tried again, where it is.
    expect(entries.map(({ retryIn }) => retryIn)).toEqual([
      expect.any(Number),
      undefined,
      undefined,
      undefined,
    ]);
    expect(entries[0]!.retryIn).toBeGreaterThanOrEqual(375);
    expect(entries[0]!.retryIn).toBeLessThanOrEqual(500);
    expect(JSON.stringify(entries)).not.toMatch(new RegExp(`${secret}|${admin.token}|team_of_secrets`));
    expect(inspect(logged, { depth: 9, showHidden: true })).not.toContain(admin.token);
  });
});

describe('a list', () => {
  it('is read to its end or to the limit, and no page more', async () => {
    for (let n = 0; n < 5; n++) await record('a list');
    proxy.take();
    const query = { source: 'a list', limit: 2 };
    const all = await client.revenueEvents.list(query).toArray();
    expect(new Set(all.map(({ eventId }) => eventId)).size).toBe(5);
    expect(proxy.take()).toHaveLength(3);
    expect(await client.revenueEvents.list(query).toArray({ limit: 2 })).toEqual(all.slice(0, 2));
    expect(proxy.take()).toHaveLength(1);
    const pages = [];
    for await (const { items } of client.revenueEvents.list(query).pages()) pages.push(items.length);
    expect(pages).toEqual([2, 2, 1]);
    const feed = await client.feed.list({ limit: 3 }).toArray({ limit: 7 });
    expect(feed.map(({ seq }) => seq)).toEqual(Array.from({ length: 7 }, (_, n) => feed[0]!.seq - n));
  });
});

describe('waiting', () => {
  it('for a directive ends when it has ended', async () => {
    const directive = 'Email jane@acme.example, subject "Hello": "We are here."';
    const waiting = client.directives.createAndWait({ directive, capo: 'capo_ops' }, { timeout: 20_000 });
    const rejected = (async () => {
      for (;;) {
        const [approval] = (await client.approvals.list({ status: 'pending' })).items.filter(({ title }) =>
          title.includes('Hello'),
        );
        if (approval) return client.approvals.reject(approval.approvalId, { feedback: 'Not today.' });
        await pause(100);
      }
    })();
    expect((await waiting).status).toBe('rejected');
    await rejected;
    expect(
      await client.directives.createAndWait({ directive, capo: 'capo_ops' }, { timeout: 300 }),
    ).toMatchObject({
      status: 'pending_approval',
    });
  });

  it('for a directive of another process tells of its changes, and ends with it, the time or the signal', async () => {
    const directive = 'Email jane@acme.example, subject "Awaited": "We are here."';
    const { directiveId, approvalId } = await client.directives.create({ directive, capo: 'capo_ops' });
    const heard: string[] = [];
    const waiting = client.directives.waitFor(directiveId, {
      timeout: 20_000,
      onChange: ({ status }) => heard.push(status),
    });
    await client.approvals.waitFor(approvalId!, { for: 'draft' });
    expect((await client.directives.waitFor(directiveId, { timeout: 100 })).status).toBe('pending_approval');
    const reason = new Error('Enough.');
    const left = client.directives.waitFor(directiveId, { signal: aborted(reason, 100) });
    expect(await failureOf(left)).toBe(reason);
    await client.approvals.approve(approvalId!);
    expect((await waiting).status).toBe('executed');
    expect(heard).toEqual([...new Set(heard)]);
    expect([heard.includes('pending_approval'), heard.at(-1)]).toEqual([true, 'executed']);
    // What has ended is answered at once, with one request.
    proxy.take();
    expect((await client.directives.waitFor(directiveId)).status).toBe('executed');
    expect(proxy.take()).toHaveLength(1);
    expect(await failureOf(client.directives.waitFor(newId('dir')))).toBeInstanceOf(NotFoundError);
  });

  it('for a decision ends with it, with the time, or with the signal', async () => {
    const { approvalId } = await client.directives.create({
      directive: 'Write a document "Plan": We begin.',
      capo: 'ceo',
    });
    expect((await client.approvals.waitFor(approvalId!, { timeout: 200 })).status).toBe('pending');
    const reason = new Error('Enough.');
    expect(await failureOf(client.approvals.waitFor(approvalId!, { signal: aborted(reason, 100) }))).toBe(
      reason,
    );
    // What the service is asked to wait does not count against the time limit of a call.
    const hasty = new Consigliere({ baseUrl: proxy.url, token: admin.token, timeout: 500 });
    // Away for longer than other calls are tried again.
    const away: Fault[] = Array.from({ length: 5 }, () => ({ status: 503, headers: SOON }));
    proxy.faults.push(...away);
    const waiting = hasty.approvals.waitFor(approvalId!);
    await pause(1_200);
    expect(proxy.faults).toEqual([]);
    await client.approvals.reject(approvalId!, { feedback: 'No.' });
    expect((await waiting).status).toBe('rejected');
  });
});

describe('the stream', () => {
  it('comes back behind the last entry after cuts, and shows each entry once', async () => {
    const stop = new AbortController();
    const seen: number[] = [];
    const told: string[] = [];
    const options = {
      signal: stop.signal,
      onLost: () => void told.push('lost'),
      onOpen: () => void told.push('open'),
    };
    const reading = (async () => {
      for await (const { seq } of client.feed.stream(options)) seen.push(seq);
    })();
    const until = (done: () => boolean) => eventually(async () => done());
    const streams = () =>
      proxy.seen.filter(({ path, isAnswered }) => isAnswered && path.endsWith('/stream')).length;
    await until(() => streams() === 1);
    await pause(200);
    // Cut before anything happened: what happens in between is not lost.
    proxy.cut();
    await record('streamed 1');
    await until(() => seen.length === 1);
    proxy.cut();
    for (const n of [2, 3, 4]) await record(`streamed ${n}`);
    await until(() => seen.length === 4);
    stop.abort();
    await reading;
    expect(seen).toEqual([0, 1, 2, 3].map((n) => seen[0]! + n));
    expect(streams()).toBe(3);
    expect(told).toEqual(['open', 'lost', 'open', 'lost', 'open']);
  });

  it('begins where it is told, and ends with an error where it will never be', async () => {
    const stream = client.feed.stream({ lastEventId: 0 });
    expect((await stream.next()).value).toMatchObject({ seq: 1 });
    await stream.return();
    const stop = new AbortController();
    const seen: number[] = [];
    for await (const { seq } of client.feed.stream({ lastEventId: 0, signal: stop.signal }))
      if (seen.push(seq) === 2) stop.abort();
    expect(seen).toEqual([1, 2]);
    const stranger = new Consigliere({ baseUrl: proxy.url, token: 'cons_unknown' });
    expect(await failureOf(stranger.feed.stream().next())).toBeInstanceOf(AuthenticationError);
    proxy.faults.push({ status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'hello' });
    expect(await failureOf(client.feed.stream().next())).toBeInstanceOf(UnreadableAnswer);
  });
});

function aborted(reason: Error, milliseconds: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), milliseconds);
  return controller.signal;
}

async function listening(): Promise<{ server: Server; url: string; requests: number }> {
  const server = createServer((_request, response) => {
    listener.requests++;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const listener = { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: 0 };
  return listener;
}
