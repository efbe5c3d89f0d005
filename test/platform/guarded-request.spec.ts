import type { Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/platform/config/config.js';
import { PublicAddress } from '../../src/platform/http/public-address.js';
import { Clock } from '../../src/platform/kernel/clock.js';
import {
  ConnectionPools,
  GuardedRequest,
  OwnAddresses,
} from '../../src/platform/outbound/guarded-request.js';
import { DESTINATION_REASONS } from '../../src/platform/outbound/destination-rules.js';
import { NameResolver } from '../../src/platform/outbound/name-resolver.js';
import { AskingResolver, startDnsServer } from '../support/dns-server.js';
import { certificateFor } from '../support/certificates.js';
import { eventually } from '../support/test-app.js';
import { answering, closeReceivers, receiver } from './receivers.js';

/** Public; never dialled here. */
const PUBLIC = '93.184.215.14';
const HEADERS = { 'User-Agent': 'Test/1', 'Content-Type': 'application/json', 'Accept-Encoding': 'identity' };
const MEGABYTE = 1024 * 1024;

/** Answers what it is told: for each name one list of addresses per call, the last one again and again. */
class ToldResolver extends NameResolver {
  readonly asked: string[] = [];

  constructor(private readonly told: Record<string, string[][]>) {
    super();
  }

  override async resolve(host: string): Promise<string[]> {
    this.asked.push(host);
    const answers = this.told[host];
    if (!answers) throw new Error(`${host} is not known`);
    return answers.length > 1 ? answers.shift()! : answers[0]!;
  }

  override lookUp(host: string): Promise<string[]> {
    return this.resolve(host);
  }
}

const open: GuardedRequest[] = [];

function guarded(
  told: Record<string, string[][]> | NameResolver = {},
  environment: Record<string, string> = {},
): GuardedRequest {
  const config = loadConfig({ PORT: '1', ...environment });
  const resolver = told instanceof NameResolver ? told : new ToldResolver(told);
  const own = new OwnAddresses(config, new PublicAddress(config));
  const request = new GuardedRequest(config, own, resolver, new Clock());
  open.push(request);
  return request;
}

/** One that may post to these ports of 127.0.0.1. */
const allowing = (...ports: number[]) =>
  guarded({}, { OUTBOUND_ALLOW: ports.map((port) => `127.0.0.1:${port}`).join() });

const post = (request: GuardedRequest, url: string, signal?: AbortSignal) =>
  request.post({ url, headers: HEADERS, body: '{"event":"test"}', ...(signal && { signal }) });

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(open.splice(0).map((request) => request.onApplicationShutdown()));
  await closeReceivers();
});

describe('a post', () => {
  it('puts these bytes on the wire and no others', async () => {
    const there = await receiver(answering(204));
    const body = '{"text":"Grüße"}';
    const url = `http://127.0.0.1:${there.port}/hook/%20?a=b&c#fragment`;
    const answer = await allowing(there.port).post({
      url,
      headers: { 'X-Service-Event': 'directive.created', ...HEADERS },
      body,
    });
    expect(answer).toMatchObject({ kind: 'answered', status: 204 });
    expect(there.received).toBe(
      [
        'POST /hook/%20?a=b&c HTTP/1.1',
        `host: 127.0.0.1:${there.port}`,
        'connection: keep-alive',
        'X-Service-Event: directive.created',
        'User-Agent: Test/1',
        'Content-Type: application/json',
        'Accept-Encoding: identity',
        'content-length: 18',
        '',
        Buffer.from(body).toString('latin1'),
      ].join('\r\n'),
    );
  });

  it('answers status, the beginning of the body and the time it took', async () => {
    const there = await receiver((socket) =>
      setTimeout(() => answering(500, {}, `broken\0${'x'.repeat(5000)}`)(socket), 50),
    );
    const answer = await post(allowing(there.port), `http://127.0.0.1:${there.port}/`);
    expect(answer).toEqual({
      kind: 'answered',
      status: 500,
      excerpt: `broken\uFFFD${'x'.repeat(2039)}`.slice(0, 2046),
      durationMs: expect.any(Number),
    });
    expect(answer.durationMs).toBeGreaterThanOrEqual(49);
  });

  it.each([
    [429, '7', 7],
    [503, '120', 120],
    [503, new Date(Date.now() - 60_000).toUTCString(), 0],
    [503, 'soon', undefined],
    [500, '7', undefined],
    [200, '7', undefined],
  ])('heeds Retry-After with 429 and 503 only: %i, %s', async (status, value, seconds) => {
    const there = await receiver(answering(status, { 'Retry-After': value }));
    const answer = await post(allowing(there.port), `http://127.0.0.1:${there.port}/`);
    expect(answer.kind === 'answered' && answer.retryAfterSeconds).toBe(seconds);
  });

  it.each(['Host', 'connection', 'Content-Length'])('lets no caller send %s', async (name) => {
    const there = await receiver(answering(200));
    const sending = allowing(there.port).post({
      url: `http://127.0.0.1:${there.port}/`,
      headers: { [name]: 'evil.example.net' },
      body: '',
    });
    await expect(sending).rejects.toThrow(TypeError);
    expect(there.connections).toBe(0);
  });

  it('sends no second header or request by way of a line break', async () => {
    const there = await receiver(answering(200));
    const sending = allowing(there.port).post({
      url: `http://127.0.0.1:${there.port}/`,
      headers: { 'X-A': 'a\r\nX-B: b' },
      body: '',
    });
    await expect(sending).rejects.toThrow('invalid X-A header');
    expect(there.received).toBe('');
  });

  it('keeps connections for posts that follow, and never has two posts on one', async () => {
    const there = await receiver(answering(200, { 'Keep-Alive': 'timeout=600' }));
    const request = allowing(there.port);
    const url = `http://127.0.0.1:${there.port}/`;
    for (let sent = 0; sent < 20; sent += 1) await post(request, url);
    // A connection is taken again one turn of the event loop after its answer, so that two take turns.
    expect(there.connections).toBeLessThanOrEqual(2);
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(request, url)));
    expect(answers.every((answer) => answer.kind === 'answered')).toBe(true);
    expect(there.connections).toBeLessThanOrEqual(12);
    await eventually(
      async () => there.open(),
      (left) => left === 0,
      6,
    ); // idle ones are closed after 2 s, whatever is offered
  });

  it('ends at the signal of its caller, and then at once', async () => {
    const there = await receiver(() => undefined);
    const request = allowing(there.port);
    const url = `http://127.0.0.1:${there.port}/`;
    const controller = new AbortController();
    const sending = post(request, url, controller.signal);
    await eventually(async () => there.received !== '');
    controller.abort();
    expect(await sending).toMatchObject({ kind: 'failed', error: 'aborted', mayHaveArrived: true });
    await eventually(
      async () => there.open(),
      (left) => left === 0,
    );
    expect(await post(request, url, AbortSignal.abort())).toMatchObject({
      kind: 'failed',
      error: 'aborted',
      mayHaveArrived: false,
    });
    expect(there.connections).toBe(1);
  });

  it('follows no redirect', async () => {
    const elsewhere = await receiver(answering(200));
    for (const status of [301, 302, 303, 307, 308]) {
      const there = await receiver(
        answering(status, { Location: `http://127.0.0.1:${elsewhere.port}/` }, 'moved'),
      );
      expect(
        await post(allowing(there.port, elsewhere.port), `http://127.0.0.1:${there.port}/`),
      ).toMatchObject({ kind: 'answered', status, excerpt: 'moved' });
    }
    expect(elsewhere.connections).toBe(0);
  });

  it('goes through no proxy', async () => {
    const proxy = await receiver(answering(200, {}, 'from the proxy'));
    for (const variable of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) {
      vi.stubEnv(variable, `http://127.0.0.1:${proxy.port}`);
      vi.stubEnv(variable.toLowerCase(), `http://127.0.0.1:${proxy.port}`);
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    vi.stubEnv('NO_PROXY', '');
    const there = await receiver(answering(200, {}, 'direct'));
    expect(await post(allowing(there.port), `http://127.0.0.1:${there.port}/`)).toMatchObject({
      excerpt: 'direct',
    });
    expect(proxy.connections).toBe(0);
  });
});

describe('a receiver over https', () => {
  const named = certificateFor('hooks.example.com');
  const trusted = getCACertificates('default');

  function trust(...certificates: string[]): void {
    setDefaultCACertificates([...trusted, ...certificates]);
  }

  afterEach(() => trust());

  const request = (port: number) =>
    guarded(
      { 'hooks.example.com': [['127.0.0.1']], 'other.example.com': [['127.0.0.1']] },
      { OUTBOUND_ALLOW: `hooks.example.com:${port},other.example.com:${port}` },
    );

  it('is asked by its name, and its certificate is checked against the name, not the address', async () => {
    trust(named.cert);
    const there = await receiver(answering(200), { tls: named });
    const url = `https://hooks.example.com:${there.port}/`;
    expect(await post(request(there.port), url)).toMatchObject({ kind: 'answered', status: 200 });
    expect(there.received).toContain(`host: hooks.example.com:${there.port}\r\n`);
    expect(there.received).toMatch(/^POST \/ HTTP\/1\.1\r\n/);
  });

  it.each([
    ['of another name', 'other.example.com', true],
    ['that nobody vouches for', 'hooks.example.com', false],
  ])('gets nothing with a certificate %s, whatever the environment says', async (_case, name, isTrusted) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    if (isTrusted) trust(named.cert);
    const there = await receiver(answering(200), { tls: named });
    expect(await post(request(there.port), `https://${name}:${there.port}/`)).toMatchObject({
      kind: 'failed',
      error: 'tls',
    });
    expect(there.received).toBe('');
  });

  it('gets nothing if it does not speak TLS', async () => {
    const there = await receiver((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'), { atOnce: true });
    expect(await post(request(there.port), `https://hooks.example.com:${there.port}/`)).toMatchObject({
      kind: 'failed',
      error: 'tls',
    });
    expect(there.received).not.toContain('event');
  });
});

describe('an address that is not allowed', () => {
  it.each([
    ['loopback', ['127.0.0.1']],
    ['loopback in version 6', ['::1']],
    ['the metadata of a cloud', ['169.254.169.254']],
    ['a private one', ['10.0.0.1']],
    ['public ones and a private one', [PUBLIC, '2606:4700:4700::1111', '127.0.0.1']],
    ['a private one and public ones', ['127.0.0.1', PUBLIC]],
    ['a mapped one', [`::ffff:${PUBLIC}`]],
    ['a zone', ['fe80::1%lo']],
    ['nothing', []],
  ])('is not dialled: a name that resolves to %s', async (_case, addresses) => {
    const there = await receiver(answering(200));
    const request = guarded({ 'hooks.example.com': [addresses] });
    const url = `https://hooks.example.com:${there.port}/`;
    const answer = await post(request, url);
    expect(answer).toMatchObject({ kind: 'failed', error: 'address' });
    expect(await request.check(url)).toEqual({
      ok: false,
      reason: 'address',
      message: DESTINATION_REASONS.address,
    });
    expect(there.connections).toBe(0);
  });

  it('gets no packet though the name server names it only after the check', async () => {
    const there = await receiver(answering(200));
    const table: Record<string, string[]> = { 'hooks.example.com': [PUBLIC] };
    const dns = await startDnsServer(table);
    const request = guarded(new AskingResolver(dns));
    const url = `https://hooks.example.com:${there.port}/`;
    expect(await request.check(url)).toMatchObject({ ok: true });
    for (const addresses of [['127.0.0.1'], ['169.254.169.254'], [PUBLIC, '127.0.0.1'], ['::1']]) {
      table['hooks.example.com'] = addresses;
      expect(await post(request, url)).toMatchObject({ kind: 'failed', error: 'address' });
    }
    expect(there.connections).toBe(0);
    expect(dns.asked.length).toBeGreaterThanOrEqual(10);
    await dns.close();
  });

  it('is told apart from a name that does not resolve by nothing at all', async () => {
    const request = guarded({ 'inside.example.com': [['10.0.0.1']] });
    const url = (name: string) => `https://${name}.example.com/`;
    expect(await request.check(url('inside'))).toEqual(await request.check(url('missing')));
    const [inside, missing] = await Promise.all([
      post(request, url('inside')),
      post(request, url('missing')),
    ]);
    expect({ ...inside, durationMs: 0 }).toEqual({ ...missing, durationMs: 0 });
  });

  it.each([
    'https://127.0.0.1:PORT/',
    'https://2130706433:PORT/',
    'https://[::ffff:127.0.0.1]:PORT/',
    'https://１２７.0.0.1:PORT/',
  ])('is not dialled: %s', async (template) => {
    const there = await receiver(answering(200));
    const request = guarded();
    const url = template.replace('PORT', String(there.port));
    expect(await request.check(url)).toMatchObject({ ok: false, reason: 'address' });
    expect(await post(request, url)).toMatchObject({ kind: 'failed', error: 'destination' });
    expect(there.connections).toBe(0);
  });

  it('is not dialled when a name changes after it was checked', async () => {
    const there = await receiver(answering(200));
    const request = guarded({ 'hooks.example.com': [[PUBLIC], ['127.0.0.1']] });
    const url = `https://hooks.example.com:${there.port}/`;
    expect(await request.check(url)).toMatchObject({ ok: true });
    expect(await post(request, url)).toMatchObject({ kind: 'failed', error: 'address' });
    expect(there.connections).toBe(0);
  });

  it('gets no byte even if the socket ends up there after all', async () => {
    const there = await receiver(answering(200));
    const pools = new ConnectionPools();
    const url = new URL(`http://hooks.example.com:${there.port}/`);
    const dial = { url, addresses: ['127.0.0.1'], isAllowed: () => false };
    await expect(pools.to(dial).request({ method: 'POST', path: '/', body: 'x' })).rejects.toMatchObject({
      failure: 'address',
    });
    await eventually(
      async () => there.open(),
      (left) => left === 0,
    );
    expect(there.received).toBe('');
    await pools.destroy();
  });
});

describe('a receiver that is only reached', () => {
  it('gets a connection, TLS included, and not a byte of a request', async () => {
    const there = await receiver(answering(200));
    const reached = await allowing(there.port).reach({ url: `http://127.0.0.1:${there.port}/hook` });
    expect(reached).toEqual({ kind: 'reached', durationMs: expect.any(Number) });
    await eventually(
      async () => [there.connections, there.open()],
      ([connections, left]) => connections === 1 && left === 0,
    );
    expect(there.received).toBe('');
  });

  it.each([
    ['with an address that is not allowed', ['10.0.0.1'], 'address'],
    ['with a name that does not resolve', [], 'address'],
  ])('%s is not connected to', async (_case, addresses, error) => {
    const there = await receiver(answering(200));
    const request = guarded({ 'hooks.example.com': [addresses] });
    const url = `https://hooks.example.com:${there.port}/`;
    expect(await request.reach({ url })).toMatchObject({ kind: 'failed', error });
    expect(there.connections).toBe(0);
  });

  it('says why nobody takes the connection, and that it is no receiver over TLS', async () => {
    const url = 'http://127.0.0.1:9';
    expect(await allowing(9).reach({ url })).toMatchObject({ kind: 'failed', error: 'connection_refused' });
    const there = await receiver((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'), { atOnce: true });
    const over = `https://127.0.0.1:${there.port}/`;
    expect(await allowing(there.port).reach({ url: over })).toMatchObject({ kind: 'failed', error: 'tls' });
  });

  it('ends at the signal of its caller', async () => {
    const there = await receiver(() => undefined);
    const url = `http://127.0.0.1:${there.port}/`;
    const reached = allowing(there.port).reach({ url, signal: AbortSignal.abort() });
    expect(await reached).toMatchObject({ kind: 'failed', error: 'aborted' });
  });
});

describe('ConnectionPools', () => {
  it('forgets the host unused for longest, and lets what is in flight there end', async () => {
    let answer = () => undefined as unknown;
    const there = await receiver((socket) => {
      answer = () => answering(200)(socket);
    });
    const pools = new ConnectionPools();
    const dial = (host: string) => ({
      url: new URL(`http://${host}:${there.port}/`),
      addresses: ['127.0.0.1'],
      isAllowed: () => true,
    });
    const first = pools.to(dial('first.example.com'));
    const sending = first.request({ method: 'POST', path: '/', body: 'x' });
    await eventually(async () => there.received !== '');
    for (let other = 0; other < 255; other += 1) pools.to(dial(`${other}.example.com`));
    expect(pools.to(dial('first.example.com'))).toBe(first);
    for (let other = 0; other < 256; other += 1) pools.to(dial(`${other}.example.net`));
    expect(first.closed).toBe(true);
    expect(pools.to(dial('first.example.com'))).not.toBe(first);
    answer();
    const { statusCode, body } = await sending;
    expect([statusCode, await body.text()]).toEqual([200, 'ok']);
    await pools.destroy();
  });
});

describe('the checked address', () => {
  it('is the one dialled: the name is looked up once, and never by the socket', async () => {
    const there = await receiver(answering(200));
    const trap = await receiver(answering(200), { host: '127.0.0.2', port: there.port });
    const resolver = new ToldResolver({ 'changes.example.com': [['127.0.0.1'], ['127.0.0.2']] });
    const request = guarded(resolver, { OUTBOUND_ALLOW: `changes.example.com:${there.port}` });
    expect(await post(request, `http://changes.example.com:${there.port}/`)).toMatchObject({ status: 200 });
    expect(resolver.asked).toEqual(['changes.example.com']);
    expect([there.connections, trap.connections]).toEqual([1, 0]);
  });

  it('is dialled anew when the name has changed, whatever connection is open', async () => {
    const before = await receiver(answering(200, {}, 'before'));
    const after = await receiver(answering(200, {}, 'after'), { host: '127.0.0.2', port: before.port });
    const answers = [['127.0.0.1'], ['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1']];
    const request = guarded(
      { 'changes.example.com': answers },
      { OUTBOUND_ALLOW: `changes.example.com:${before.port}` },
    );
    const excerpts: unknown[] = [];
    for (let sent = 0; sent < 4; sent += 1) {
      const answer = await post(request, `http://changes.example.com:${before.port}/`);
      excerpts.push(answer.kind === 'answered' && answer.excerpt);
    }
    expect(excerpts).toEqual(['before', 'before', 'after', 'before']);
    expect(after.connections).toBe(1);
  });

  it('is followed by the next one if nobody listens there', async () => {
    const there = await receiver(answering(200));
    const request = guarded(
      { 'both.example.com': [['::1', '127.0.0.3', '127.0.0.1']] },
      { OUTBOUND_ALLOW: `both.example.com:${there.port}` },
    );
    expect(await post(request, `http://both.example.com:${there.port}/`)).toMatchObject({ status: 200 });
  });
});

describe('the check before saving', () => {
  it('names the rule that the URL itself breaks', async () => {
    const request = guarded({}, { PUBLIC_URL: 'https://consigliere.example.com' });
    for (const [url, reason] of [
      ['http://example.com', 'scheme'],
      ['https://user@example.com', 'user_info'],
      ['https://example.com:22', 'port'],
      ['https://localhost', 'name'],
      ['https://consigliere.example.com/hook', 'own_address'],
    ]) {
      expect(await request.check(url!), url).toMatchObject({ ok: false, reason });
    }
  });

  it('takes a host whose every address is public, and connects nowhere', async () => {
    const request = guarded({ 'hooks.example.com': [[PUBLIC, '2606:4700:4700::1111']] });
    const checked = await request.check('https://hooks.example.com/a');
    expect(checked).toMatchObject({ ok: true, exempt: false });
    expect(checked.ok && checked.url.href).toBe('https://hooks.example.com/a');
  });

  it('takes an allowed receiver that is not up yet', async () => {
    const request = guarded({}, { OUTBOUND_ALLOW: 'receiver:8080' });
    expect(await request.check('http://receiver:8080/')).toMatchObject({ ok: true, exempt: true });
  });
});

describe('a receiver that fails', () => {
  it.each<[string, string, Parameters<typeof receiver>[0], boolean]>([
    ['resets the connection when it is opened', 'reset', (socket) => socket.resetAndDestroy(), true],
    ['resets the connection after the request', 'reset', (socket) => socket.resetAndDestroy(), false],
    ['closes the connection without an answer', 'reset', (socket) => socket.end(), false],
    ['breaks off within the headers', 'reset', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'), false],
    [
      'breaks off within the body',
      'reset',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
      false,
    ],
    ['does not speak HTTP', 'invalid_answer', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), false],
    [
      'upgrades the connection unasked',
      'reset',
      (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      false,
    ],
    [
      'sends 30 KB of headers',
      'headers_too_large',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\n${`X-A: ${'y'.repeat(1000)}\r\n`.repeat(30)}\r\n`),
      false,
    ],
    [
      'sends one header of 30 KB',
      'headers_too_large',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nX-A: ${'y'.repeat(30_000)}\r\n\r\n`),
      false,
    ],
    [
      'sends 30 KB after the body',
      'headers_too_large',
      (socket) =>
        socket.end(
          `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: ${'y'.repeat(30_000)}\r\n\r\n`,
        ),
      false,
    ],
  ])('%s', async (_case, error, behave, atOnce) => {
    const there = await receiver(behave, { atOnce });
    const answer = await post(allowing(there.port), `http://127.0.0.1:${there.port}/`);
    const mayHaveArrived = atOnce ? expect.any(Boolean) : true;
    expect(answer).toEqual({ kind: 'failed', error, mayHaveArrived, durationMs: expect.any(Number) });
  });

  it('is not there at all', async () => {
    const { port } = await receiver(answering(200));
    await closeReceivers();
    expect(await post(allowing(port), `http://127.0.0.1:${port}/`)).toMatchObject({
      kind: 'failed',
      error: 'connection_refused',
      mayHaveArrived: false,
    });
  });

  it('sends without end: 64 KiB are read, 2 KiB kept, and its status counts', async () => {
    const chunk = Buffer.alloc(65_536, 'x');
    const there = await receiver((socket) => {
      socket.write('HTTP/1.1 202 Accepted\r\n\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', more);
      more();
    });
    const answer = await post(allowing(there.port), `http://127.0.0.1:${there.port}/`);
    expect(answer).toMatchObject({ kind: 'answered', status: 202, excerpt: 'x'.repeat(2048) });
    await eventually(
      async () => there.open(),
      (left) => left === 0,
    );
    // What the two systems buffer between them comes on top of the 64 KiB.
    expect(there.sent()).toBeLessThan(32 * MEGABYTE);
  });

  it('sends 1 GB in 1 MB: it is not unpacked', async () => {
    const member = gzipSync(Buffer.alloc(16 * MEGABYTE));
    const bomb = Buffer.concat(Array<Buffer>(64).fill(member)); // gzip allows one after the other
    const there = await receiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      socket.end(bomb);
    });
    const request = allowing(there.port);
    const url = `http://127.0.0.1:${there.port}/`;
    await post(request, url);
    const before = process.memoryUsage();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(request, url)));
    const after = process.memoryUsage();
    for (const answer of answers) {
      expect(answer).toMatchObject({ kind: 'answered', status: 200 });
      expect(answer.kind === 'answered' && Buffer.byteLength(answer.excerpt)).toBeLessThanOrEqual(2048);
    }
    expect(after.rss - before.rss).toBeLessThan(100 * MEGABYTE);
  });
});

describe('receivers that take their time', () => {
  /** Writes a byte every 20 ms: never silent, and never done. */
  const dripping = (first: string, drip: string) => (socket: Socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(drip), 20);
    socket.on('close', () => clearInterval(timer));
  };

  it('take 10 s at most, each in its way, and hold up nobody else', async () => {
    const slow = {
      hangs: await receiver(() => undefined),
      dripsHeaders: await receiver(dripping('HTTP/1.1 200 OK\r\nX-A: ', 'a')),
      dripsBody: await receiver(dripping('HTTP/1.1 200 OK\r\n\r\n', 'a')),
      dripsChunks: await receiver(
        dripping('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\na\r\n'),
      ),
      informsForEver: await receiver(dripping('', 'HTTP/1.1 103 Early Hints\r\n\r\n')),
    };
    const neverReads = await receiver((socket) => socket.pause());
    const silent = await receiver(() => undefined, { atOnce: true });
    const healthy = await receiver(answering(200));
    class HangingResolver extends NameResolver {
      override async resolve(host: string): Promise<string[]> {
        return host === 'hangs.example.com' ? new Promise<never>(() => undefined) : ['127.0.0.1'];
      }

      override lookUp(host: string): Promise<string[]> {
        return this.resolve(host);
      }
    }
    const ports = [...Object.values(slow), neverReads, healthy].map(({ port }) => `127.0.0.1:${port}`);
    const request = guarded(new HangingResolver(), {
      OUTBOUND_ALLOW: [...ports, `silent.example.com:${silent.port}`].join(),
    });

    const before = process.memoryUsage().rss;
    let waiting = true;
    const large = Buffer.alloc(16 * MEGABYTE, 'x'); // more than the system takes off our hands
    const slowAnswers = Promise.all([
      ...Object.values(slow).flatMap(({ port }) =>
        Array.from({ length: 10 }, () => post(request, `http://127.0.0.1:${port}/`)),
      ),
      request.post({ url: `http://127.0.0.1:${neverReads.port}/`, headers: HEADERS, body: large }),
      post(request, 'https://hangs.example.com/'),
    ]).finally(() => (waiting = false));
    const handshake = post(request, `https://silent.example.com:${silent.port}/`);

    const healthyMs: number[] = [];
    while (waiting) {
      const answer = await post(request, `http://127.0.0.1:${healthy.port}/`);
      expect(answer).toMatchObject({ kind: 'answered', status: 200 });
      healthyMs.push(answer.durationMs);
      await sleep(10);
    }

    for (const answer of await slowAnswers) {
      expect(answer).toMatchObject({ kind: 'failed', error: 'timeout' });
      expect(answer.durationMs).toBeGreaterThanOrEqual(9_990);
    }
    const unshaken = await handshake;
    expect(unshaken).toMatchObject({
      kind: 'failed',
      error: 'connect_timeout',
      mayHaveArrived: false,
    });
    for (const [name, { open: left }] of Object.entries(slow)) {
      await eventually(
        async () => left(),
        (count) => count === 0,
      ).catch(() => expect.fail(`${name} is still open`));
    }
    expect(healthyMs.length).toBeGreaterThan(100);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MEGABYTE);
  }, 40_000);
});
