import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BrokenRequests } from '../../../src/platform/http/broken-requests.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

interface RawAnswer {
  status: number;
  headers: Map<string, string>;
  body: any;
}

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api', TRUST_PROXY: '0', RATE_LIMIT_STORE: 'postgres' });
});
afterAll(() => test.close());

function open(url = test.url): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  return socket;
}

/** Everything that comes until the other side ends. */
async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
  return Buffer.concat(chunks).toString();
}

/** Sends these bytes and reads until the other side ends. */
function send(bytes: string | Uint8Array, url?: string): Promise<string> {
  const socket = open(url);
  socket.write(bytes);
  return readAll(socket);
}

/** The answers on a connection, by their declared lengths; nothing may be left over. */
function answersIn(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = Buffer.from(text); rest.length > 0;) {
    const end = rest.indexOf('\r\n\r\n');
    expect(end, `headers in ${rest.toString()}`).toBeGreaterThan(0);
    const [line, ...fields] = rest.subarray(0, end).toString().split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3}) [A-Z]/.exec(line!)?.[1];
    expect(status, line).toBeDefined();
    const headers = new Map(
      fields.map((field) => [field.split(': ')[0]!.toLowerCase(), field.slice(field.indexOf(': ') + 2)]),
    );
    const length = Number(headers.get('content-length'));
    const body = rest.subarray(end + 4, end + 4 + length);
    expect(body.length, 'the body is as long as declared').toBe(length);
    answers.push({ status: Number(status), headers, body: JSON.parse(body.toString()) });
    rest = rest.subarray(end + 4 + length);
  }
  return answers;
}

/** What every answer has (CONTRACT section 1), and an error in shape A that names the request. */
function expectWhole({ status, headers, body }: RawAnswer): void {
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('x-service-api-version')).toBe('2026-04');
  expect(headers.get('vary')).toContain('X-Service-API-Version');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
  expect(headers.get('x-ratelimit-limit')).toBe('60');
  expect(headers.get('x-ratelimit-remaining')).toMatch(/^[0-5]?\d$/);
  const reset = Number(headers.get('x-ratelimit-reset'));
  expect(reset % 60).toBe(0);
  expect(Math.abs(reset - Date.now() / 1000)).toBeLessThan(61);
  expect(body).toEqual({
    error: expect.objectContaining({ code: expect.any(String), status, message: expect.any(String) }),
    reason: body.error.code.toLowerCase(),
    requestId: headers.get('x-request-id'),
  });
}

const remaining = ({ headers }: RawAnswer) => Number(headers.get('x-ratelimit-remaining'));

describe('what is no HTTP request', () => {
  const LONG = 'y'.repeat(65_536);

  it.each<[string, string | Uint8Array, number, string]>([
    ['no HTTP', 'hello\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['bytes', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]), 400, 'MALFORMED_REQUEST'],
    ['a method that is none', 'FROB / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['a header without a name', 'GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['a space in the path', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'MALFORMED_REQUEST',
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'MALFORMED_REQUEST',
    ],
    [
      'a length that is none',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
      400,
      'MALFORMED_REQUEST',
    ],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    [
      '30 KB of headers',
      `GET / HTTP/1.1\r\nHost: x\r\n${`X-A: ${'y'.repeat(1000)}\r\n`.repeat(30)}\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    ['one header of 64 KB', `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${LONG}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
    ['a path of 64 KB', `GET /${LONG} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
  ])('is answered with everything that an answer has: %s', async (_case, bytes, status, code) => {
    const [answer, ...more] = answersIn(await send(bytes));
    expect(more).toEqual([]);
    expect(answer!.status).toBe(status);
    expect(answer!.headers.get('connection')).toBe('close');
    expectWhole(answer!);
    expect(answer!.body.error.code).toBe(code);
  });

  it('is refused with 400 when it is HTTP/1.1 without Host, on any path', async () => {
    for (const path of ['/api/pro/guardian', '/nowhere']) {
      const [answer] = answersIn(await send(`GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`));
      expect(answer!.status).toBe(400);
      expectWhole(answer!);
      expect(answer!.body.error).toMatchObject({ code: 'MALFORMED_REQUEST', message: /Host/ });
    }
  });

  it('is refused with 400 when it has two Host headers, alike or not, on any path', async () => {
    for (const path of ['/api/pro/guardian', '/nowhere', '/health/live']) {
      for (const [one, other] of [
        ['Host: x', 'Host: y'],
        ['Host: x', 'host: x'],
        ['Host: x', 'Host:'],
      ]) {
        const head = `GET ${path} HTTP/1.1\r\n${one}\r\n${other}\r\nConnection: close\r\n\r\n`;
        const [answer] = answersIn(await send(head));
        expect(answer!.status).toBe(400);
        expectWhole(answer!);
        expect(answer!.body.error).toMatchObject({ code: 'MALFORMED_REQUEST', message: /one Host/ });
      }
    }
  });

  it('is refused in the shape of the version it names when only Host is missing', async () => {
    const version = 'X-Service-API-Version: 2026-04';
    const [answer] = answersIn(await send(`GET / HTTP/1.1\r\n${version}\r\nConnection: close\r\n\r\n`));
    expect(answer!.body).toMatchObject({ error: 'malformed_request', status: 400 });
  });

  it('is none of these: HTTP/1.0 without Host, an expectation that nobody knows', async () => {
    for (const request of [
      'GET /health/live HTTP/1.0\r\n\r\n',
      'GET /health/live HTTP/1.1\r\nHost: x\r\nExpect: the-best\r\nConnection: close\r\n\r\n',
    ]) {
      const [answer] = answersIn(await send(request));
      expect(answer!.status).toBe(200);
      expect(answer!.headers.get('x-ratelimit-limit')).toBe('600');
    }
  });

  it('has a line in the log, by its request id', async () => {
    const [answer] = answersIn(await send('hello\r\n\r\n'));
    const requestId = answer!.headers.get('x-request-id');
    expect(test.logs.filter((line) => line['requestId'] === requestId)).toEqual([
      expect.objectContaining({ level: 'info', status: answer!.status }),
    ]);
  });
});

describe('a request that breaks off being one', () => {
  const chunked = (token: string) =>
    `POST /api/pro/directive HTTP/1.1\r\nHost: x\r\nx-service-token: ${token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;

  it.each([
    ['a chunk without a length', 'zz\r\n', 400, 'MALFORMED_REQUEST'],
    ['a chunk with 20 KB of extensions', `5;${'x'.repeat(20_000)}\r\n`, 413, 'PAYLOAD_TOO_LARGE'],
  ])('is answered once, and nothing is executed: %s', async (_case, bytes, status, code) => {
    const directives = () => test.rows('select 1 from directives');
    const before = (await directives()).length;
    const [answer, ...more] = answersIn(await send(chunked(test.owner.token!) + bytes));
    expect(more).toEqual([]);
    expect(answer!.status).toBe(status);
    expectWhole(answer!);
    expect(answer!.body.error.code).toBe(code);
    expect((await directives()).length).toBe(before);
  });

  it('gets no second answer when it had one before its body', async () => {
    const socket = open();
    const text = readAll(socket);
    socket.write(chunked('no'));
    await once(socket, 'data');
    socket.write('zz\r\n');
    expect(answersIn(await text).map(({ status }) => status)).toEqual([401]);
  });

  it('does not take the answer of the whole request before it', async () => {
    const first = `GET /api/pro/guardian HTTP/1.1\r\nHost: x\r\nx-service-token: ${test.owner.token}\r\n\r\n`;
    const answers = answersIn(await send(`${first}hello\r\n\r\n`));
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    expectWhole(answers[1]!);
  });
});

describe('a request that does not arrive', () => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    // The same application behind a server that is less patient.
    server = createServer(test.app.getHttpAdapter().getInstance());
    const timeouts = { headersTimeout: 100, requestTimeout: 300, connectionsCheckingInterval: 50 };
    test.app.get(BrokenRequests).answer(server, timeouts);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
  });

  it.each([
    ['nothing of it', ''],
    ['half of its headers', 'GET / HTTP/1.1\r\nHo'],
    ['half of its body', 'POST /api/pro/directive HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{"text'],
  ])('is answered with 408: %s', async (_case, bytes) => {
    const [answer, ...more] = answersIn(await send(bytes.replace('Host: x', tokenLines()), url));
    expect(more).toEqual([]);
    expect(answer!.status).toBe(408);
    expectWhole(answer!);
    expect(answer!.body.error.code).toBe('REQUEST_TIMEOUT');
  });

  it('is answered with 408 however regularly its body drips', async () => {
    const socket = open(url);
    const text = readAll(socket);
    socket.write(`POST /api/pro/directive HTTP/1.1\r\n${tokenLines()}\r\nContent-Length: 10000\r\n\r\n`);
    const drip = setInterval(() => socket.write(' '), 20);
    const [answer, ...more] = answersIn(await text);
    clearInterval(drip);
    expect(more).toEqual([]);
    expect(answer!.status).toBe(408);
    expectWhole(answer!);
  });

  it('is waited for by the application itself for 15 seconds, and 30 with its body', () => {
    expect(test.app.getHttpServer()).toMatchObject({
      headersTimeout: 15_000,
      requestTimeout: 30_000,
      connectionsCheckingInterval: 1_000,
    });
  });

  const tokenLines = () =>
    `Host: x\r\nContent-Type: application/json\r\nx-service-token: ${test.owner.token}`;

  it('frees its connection when the client never ends it', async () => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined).resume();
    socket.write('hello\r\n\r\n');
    await once(socket, 'end');
    const connections = () =>
      new Promise<number>((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      );
    await expect.poll(connections, { timeout: 5_000 }).toBe(0);
    socket.destroy();
  });
});

describe('the limit of what is no HTTP request', () => {
  beforeEach(() => test.clock.stopAtMinute());
  afterEach(() => test.clock.goOn());

  it('is the one of paths that no route has', async () => {
    const [broken] = answersIn(await send('hello\r\n\r\n'));
    const [hostless] = answersIn(await send('GET / HTTP/1.1\r\nConnection: close\r\n\r\n'));
    const request = httpRequest(`${test.url}/nowhere`).end();
    const [unknown] = await once(request, 'response');
    unknown.resume();
    expect(remaining(hostless!)).toBe(remaining(broken!) - 1);
    expect(Number(unknown.headers['x-ratelimit-remaining'])).toBe(remaining(broken!) - 2);
  });

  it('counts a connection once, however much follows on it', async () => {
    const [before] = answersIn(await send('hello\r\n\r\n'));
    const socket = open();
    const text = readAll(socket);
    for (let packet = 0; packet < 20; packet++) {
      socket.write('hello\r\n\r\n');
      await setImmediate();
    }
    expect(answersIn(await text)).toHaveLength(1);
    const [after] = answersIn(await send('hello\r\n\r\n'));
    expect(remaining(after!)).toBe(remaining(before!) - 2);
  });

  it('refuses with 429', async () => {
    let last: RawAnswer | undefined;
    for (let calls = 0; calls < 61 && last?.status !== 429; calls++) {
      [last] = answersIn(await send('hello\r\n\r\n'));
    }
    expect(last!.status).toBe(429);
    expectWhole(last!);
    expect(remaining(last!)).toBe(0);
    expect(last!.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    expect(last!.body.error).toMatchObject({ code: 'RATE_LIMITED', details: { policy: 'route', limit: 60 } });
    const known = await test.owner.get('/guardian');
    expect(known.status, 'routes have limits of their own').toBe(200);
  });
});
