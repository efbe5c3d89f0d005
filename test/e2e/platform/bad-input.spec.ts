import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { PinoLogger } from 'nestjs-pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Callers } from '../../../src/platform/auth/callers.js';
import { ErrorFilter } from '../../../src/platform/http/error.filter.js';
import { RouteTable } from '../../../src/platform/http/route-table.js';
import { startRequest } from '../../../src/platform/http/start-request.js';
import { NotFound } from '../../../src/platform/kernel/errors.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { RefusedLimit } from '../../../src/platform/rate-limit/limit.guard.js';
import { type Answer, Client } from '../../support/client.js';
import { type Service, startService } from '../../support/processes.js';
import { credentialsFor } from '../../support/sessions.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { expectErrorShape } from './error-shape.js';
import { attackEveryRoute } from './hostile-requests.js';

const VERSION = { 'X-Service-API-Version': '2026-04' };

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
});
afterAll(() => test.close());

/** From an address that has called nothing yet. */
const caller = (url = test.url, token = test.owner.token) => new Client(url, token);
const send = (body: unknown, headers: Record<string, string> = {}) =>
  caller().post('/directive', body, headers);
const directives = async () => (await test.rows('select 1 from directives')).length;

/** The faults of a 422, as `path rule`. */
function faults(answer: Answer): string[] {
  expect(answer.status, answer.text).toBe(422);
  expectErrorShape(answer, 'A');
  return answer.body.error.details.map(({ path, rule }: { path: string; rule: string }) => `${path} ${rule}`);
}

/** `{"text":"x","context":{"a":...}}`, nested so that the innermost is at this level. */
const nested = (levels: number) =>
  `{"text":"x","context":${'{"a":'.repeat(levels - 2)}{}${'}'.repeat(levels - 2)}}`;
const nestedArrays = (levels: number) => `{"context":${'['.repeat(levels)}${']'.repeat(levels)}}`;

describe('a body that is not JSON as we take it', () => {
  it.each<[string, string | Uint8Array]>([
    ['cut off', '{"text":"x"'],
    ['no JSON', 'text=x'],
    ['only spaces', '   '],
    ['two values', '{"text":"x"}{}'],
    ['a comment', '{"text":"x"/* y */}'],
    ['a trailing comma', '{"text":"x",}'],
    ['single quotes', "{'text':'x'}"],
    ['NaN', '{"text":NaN}'],
    ['a leading zero', '{"text":01}'],
    ['a raw line end in text', '{"text":"a\nb"}'],
    ['a wrong escape', '{"text":"\\q"}'],
    ['a duplicate key', '{"text":"x","text":"y"}'],
    ['a duplicate key by escape', '{"text":"x","\\u0074ext":"y"}'],
    ['a duplicate key below', '{"text":"x","context":{"a":1,"a":2}}'],
    ['33 levels', nested(33)],
    ['100,000 objects deep', nested(100_000)],
    ['100,000 arrays deep', nestedArrays(100_000)],
    ['1,000,000 arrays opened', '['.repeat(1_000_000)],
    ['a byte that is no UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a surrogate in UTF-8', Buffer.from('{"text":"\xed\xa0\x80"}', 'latin1')],
    ['an overlong NUL', Buffer.from('{"text":"\xc0\x80"}', 'latin1')],
    ['UTF-16', Buffer.from('{"text":"x"}', 'utf16le')],
    ['a character cut off', Buffer.from('{"text":"\xf0\x9f"}', 'latin1')],
  ])('is refused with 400: %s', async (_case, body) => {
    for (const [headers, shape] of [[{}, 'A'] as const, [VERSION, 'B'] as const]) {
      const answer = await send(body, headers);
      expect(answer.status, answer.text).toBe(400);
      expectErrorShape(answer, shape);
      expect(answer.body.reason).toBe('malformed_json');
    }
  });

  it('may have 32 levels', async () => {
    expect((await send(nested(32))).status).toBe(201);
  });

  it.each([
    ['an array', '[]'],
    ['a text', '"x"'],
    ['a number', '1'],
    ['null', 'null'],
  ])('is refused with 422: %s', async (_case, body) => {
    expect(faults(await send(body))).toEqual([' isObject']);
  });
});

describe('a body that is too large', () => {
  const ONE_MB = 2 ** 20;
  const sized = (bytes: number) => `{"text":"x"}`.padEnd(bytes, ' ');

  it('is not one of exactly 1 MB', async () => {
    expect((await send(sized(ONE_MB))).status).toBe(201);
  });

  it.each([ONE_MB + 1, 2 * ONE_MB, 50 * ONE_MB])('is refused with 413: %i bytes', async (bytes) => {
    const answer = await send(sized(bytes));
    expect(answer.status).toBe(413);
    expectErrorShape(answer, 'A');
    expect(answer.body.error.code).toBe('PAYLOAD_TOO_LARGE');
  });

  it('is refused with 413 when its size is not declared', async () => {
    for (const bytes of [ONE_MB + 1, 20 * ONE_MB]) {
      const { address, token } = caller();
      const request = httpRequest(`${test.url}/api/pro/directive`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'X-Forwarded-For': address,
          'x-service-token': token,
          'Transfer-Encoding': 'chunked',
        },
      });
      // Whoever is refused is cut off while still sending; the answer is there all the same.
      request.on('error', () => undefined);
      const answered = once(request, 'response', { signal: AbortSignal.timeout(5_000) });
      for (let sent = 0; sent < bytes; sent += 2 ** 16) request.write(' '.repeat(2 ** 16));
      request.end();
      const [response] = await answered;
      expect(response.statusCode).toBe(413);
      request.destroy();
    }
  });
});

describe('a body of many parts', () => {
  /** A body with so many keys and items, mostly keys, and a context that is short enough for its 64 KB. */
  const withEntries = (entries: number) => {
    const keys = (count: number) =>
      Array.from({ length: count }, (_, key) => `"${String.fromCharCode(35 + key)}":0`).join(',');
    const groups: string[] = [];
    for (let left = entries - 3; left > 0; left -= 51) groups.push(`{${keys(Math.min(50, left - 1))}}`);
    return `{"text":"x","context":{"g":[${groups.join(',')}]}}`;
  };
  const items = (count: number) => `{"text":"x","context":{"a":[${Array(count).fill(0).join(',')}]}}`;

  it('may have 10,000 keys and items together', async () => {
    for (const body of [withEntries(9_999), withEntries(10_000), items(9_997)]) {
      const answer = await send(body);
      expect(answer.status, answer.text).toBe(201);
    }
  });

  it('may have as many keys in one object of a context', async () => {
    const context = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, key) => [key.toString(36).padStart(3, 'k'), 0]),
    );
    const answer = await caller().post('/directives', { directive: 'x', capo: 'capo_ops', context });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.context).toEqual(context);
  });

  it.each([
    ['one key more', withEntries(10_001)],
    ['one item more', items(9_998)],
    [
      '80,000 keys of one object',
      `{"text":"x","context":{${Array.from({ length: 80_000 }, (_, key) => `"k${key}":0`).join(',')}}}`,
    ],
    ['330,000 empty objects', `{"text":"x","context":{"a":[${'{},'.repeat(330_000)}{}]}}`],
    [
      'as many of its own',
      `{"text":"x"${Array.from({ length: 60_000 }, (_, key) => `,"k${key}":0`).join('')}}`,
    ],
  ])('is refused with 422, and the limit is named: %s', async (_case, body) => {
    const before = await directives();
    const answer = await send(body);
    expect(faults(answer)).toEqual([' maxEntries']);
    expect(answer.body.error.details[0].message).toContain('at most 10,000 keys and items');
    expect(await directives()).toBe(before);
  });

  it('is refused with 422 when a documented object has more properties than any can have', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, key) => [`k${key}`, 0]));
    expect(faults(await send({ text: 'x', ...many }))).toEqual([' maxProperties']);
    expect(faults(await caller().post('/standing-orders', { match: many }))).toEqual(['match maxProperties']);
  });

  it('is refused with 422 for a name of more than 256 characters', async () => {
    const name = 'n'.repeat(257);
    expect(faults(await send({ text: 'x', context: { inner: { [name]: 1 } } }))).toEqual([
      'context.inner keyLength',
    ]);
    expect((await send({ text: 'x', context: { [name.slice(1)]: 1 } })).status).toBe(201);
  });
});

describe('one wrong value', () => {
  it.each([
    ['/ack', { signalId: 7 }, { path: 'signalId', rule: 'isString', message: 'signalId must be a string' }],
    [
      '/revenue-events',
      { amount: 1, currency: 'EUR', source: 17 },
      { path: 'source', rule: 'isString', message: 'source must be a string' },
    ],
    [
      '/revenue-events',
      { amount: 1, currency: 'EUR', source: 'x', occurredAt: 'x' },
      {
        path: 'occurredAt',
        rule: 'isInt',
        message: 'occurredAt must be a time in Unix milliseconds, a whole number such as 1798758000000',
      },
    ],
  ])('%s %j is one fault, the first of its rules that it breaks', async (path, body, fault) => {
    const answer = await caller().post(path, body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details).toEqual([fault]);
  });

  it('stands beside every other', async () => {
    const answer = await caller().post('/revenue-events', {
      amount: 'x',
      currency: 7,
      source: '',
      occurredAt: 'x',
      more: 1,
    });
    expect(faults(answer).toSorted()).toEqual([
      'amount isAmount',
      'currency isCurrency',
      'more unknownProperty',
      'occurredAt isInt',
      'source matches',
    ]);
  });
});

describe('a body with many faults', () => {
  it('has 100 of them listed and the others counted, in both shapes', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 350 }, (_, key) => [`unknown${key}`, 0]));
    const unclean = `{"text":"x","context":{"a":[${Array(350).fill('"\\ud800"').join(',')}]}}`;
    for (const body of [{ text: 'x', ...unknown }, unclean]) {
      const [a, b] = [await send(body), await send(body, VERSION)];
      expect(faults(a)).toHaveLength(100);
      expect(a.body.error.detailsOmitted).toBe(250);
      expectErrorShape(b, 'B');
      expect(b.body.details).toHaveLength(100);
      expect(b.body.detailsOmitted).toBe(250);
    }
  });

  it('has no count when all are listed', async () => {
    const { body } = await send({});
    expect(body.error).not.toHaveProperty('detailsOmitted');
  });

  it('is not answered with more than it sent, whatever stands in front of each fault', async () => {
    const deep = (inner: string) => `${`{"${'n'.repeat(256)}":`.repeat(28)}${inner}${'}'.repeat(28)}`;
    const body = `{"text":"x","context":${deep(`[${Array(9_000).fill('"\\u0000"').join(',')}]`)}}`;
    const answer = await send(body);
    expect(faults(answer)).toHaveLength(100);
    expect(answer.text.length).toBeLessThan(2 ** 20);
  });
});

describe('a context', () => {
  it.each([
    ['/directive', { text: 'x' }],
    ['/directives', { directive: 'x', capo: 'capo_ops' }],
  ])('may have 64 KB of UTF-8, and no more: %s', async (path, body) => {
    const note = (bytes: number) => {
      const free = bytes - '{"note":""}'.length;
      return { note: 'é'.repeat(Math.floor(free / 2)) + 'x'.repeat(free % 2) };
    };
    const whole = await caller().post(path, { ...body, context: note(65_536) });
    expect(whole.status, whole.text).toBe(201);
    const answer = await caller().post(path, { ...body, context: note(65_537) });
    expect(faults(answer)).toEqual(['context maxJsonBytes']);
    expect(answer.body.error.details[0].message).toContain('64 KB');
  });
});

describe('a body of another type', () => {
  it.each<[string, string | Uint8Array, Record<string, string>]>([
    ['text', 'x', { 'Content-Type': 'text/plain' }],
    ['a form', 'text=x', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['JSON as something else', '{"text":"x"}', { 'Content-Type': 'application/vnd.api+json' }],
    ['without a type', '{"text":"x"}', { 'Content-Type': '' }],
    ['in another charset', '{"text":"x"}', { 'Content-Type': 'application/json; charset=latin1' }],
    ['in another charset, quoted', '{"text":"x"}', { 'Content-Type': 'application/json; charset="utf-16"' }],
    ['compressed', gzipSync('{"text":"x"}'), { 'Content-Encoding': 'gzip' }],
    ['claimed to be compressed', '{"text":"x"}', { 'Content-Encoding': 'br' }],
  ])('is refused with 415: %s', async (_case, body, headers) => {
    const answer = await send(body, headers);
    expect(answer.status).toBe(415);
    expectErrorShape(answer, 'A');
  });

  it.each([
    'application/json',
    'Application/JSON; Charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/json; x=y',
  ])('is taken as JSON: %s', async (type) => {
    expect(
      (await send('{"text":"x"}', { 'Content-Type': type, 'Content-Encoding': 'identity' })).status,
    ).toBe(201);
  });
});

describe('text that cannot be stored', () => {
  it.each([
    ['NUL', '\\u0000'],
    ['a lone high surrogate', '\\ud800'],
    ['a lone low surrogate', '\\udc00x'],
    ['surrogates in the wrong order', '\\udc00\\ud800'],
  ])('is refused by its place: %s', async (_case, escape) => {
    expect(faults(await send(`{"text":"a${escape}"}`))).toEqual(['text isText']);
    expect(faults(await send(`{"text":"x","context":{"deep":[1,{"er":"${escape}"}]}}`))).toEqual([
      'context.deep.1.er isText',
    ]);
    expect(faults(await send(`{"text":"x","context":{"a${escape}":1}}`))).toHaveLength(1);
  });

  it('may be a surrogate pair', async () => {
    expect((await send('{"text":"\\ud83d\\ude00"}')).status).toBe(201);
  });

  it.each(['%00', 'dir_%00', '..%2f..', '__proto__', 'constructor'])('is a 404 in a path: %s', async (id) => {
    const answer = await caller().get(`/directives/${id}`);
    expect(answer.status).toBe(404);
    expectErrorShape(answer, 'A');
  });

  it.each(['%', '%E0%A4%A', '%zz', '%ED%A0%80'])(
    'is a 400 in a path when it is no encoding: %s',
    async (id) => {
      const answer = await caller().get(`/directives/${id}`, VERSION);
      expect(answer.status).toBe(400);
      expectErrorShape(answer, 'B');
    },
  );

  it('is refused in a query, by name', async () => {
    expect(faults(await caller().get('/directives?status=a%00b'))).toEqual(['status isText']);
    expect(faults(await caller().get('/directives?%00=1'))).toHaveLength(1);
  });
});

describe('keys of a prototype', () => {
  it.each(['__proto__', 'constructor', 'prototype', '\\u005f_proto__', 'toString', 'hasOwnProperty'])(
    'are refused by name: %s',
    async (key) => {
      const name = JSON.parse(`"${key}"`);
      expect(faults(await send(`{"text":"x","${key}":{"role":"owner"}}`))).toEqual([`${name} reservedKey`]);
      expect(faults(await send(`{"text":"x","context":{"a":{"${key}":1}}}`))).toEqual([
        `context.a.${name} reservedKey`,
      ]);
      expect(({} as Record<string, unknown>)['role']).toBeUndefined();
    },
  );

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'are refused in a query: %s',
    async (key) => {
      expect(faults(await caller().get(`/directives?${key}=1`))).toHaveLength(1);
    },
  );
});

describe('numbers and times that do not exist', () => {
  it.each(['1e400', '-1e400'])('are refused: %s', async (number) => {
    expect(faults(await send(`{"text":"x","context":{"n":${number}}}`))).toEqual(['context.n isNumber']);
    expect(
      faults(await caller().post('/revenue-events', `{"amount":${number},"currency":"USD","source":"x"}`)),
    ).toContain('amount isNumber');
  });

  it.each(['9223372036854775808', '1e300', '-1', 'x', '1.5', '', '101'])(
    'are refused as the limit of a page: %s',
    async (limit) => {
      const answer = await caller().get(`/directives?limit=${encodeURIComponent(limit)}`);
      expect(answer.status, answer.text).toBe(422);
      expectErrorShape(answer, 'A');
    },
  );

  it.each([
    '/directives?offset=9223372036854775808',
    '/feed?before=9223372036854775808',
    '/audit-feed?before=1e400',
  ])('are refused as a place in a list: %s', async (path) => {
    expect((await caller().get(path)).status).toBe(422);
  });

  it.each([
    '2027-02-29T12:00:00Z',
    '2026-02-30T12:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-01-01T24:00:00Z',
    '2027-01-01T23:60:00Z',
    '2027-01-01T12:00:00',
    '2027-01-01',
    '2027-01-01T12:00:00+25:00',
    '+275760-09-13T00:00:00.001Z',
    '-000000-01-01T00:00:00Z',
    'tomorrow',
    '1e12',
    '',
  ])('are refused as a deadline: %s', async (deadline) => {
    expect(faults(await send({ text: 'x', deadline }))).toEqual([expect.stringMatching(/^deadline /)]);
  });
});

describe('what a route does not know', () => {
  it('is refused by name, in the body and in what is nested', async () => {
    expect(faults(await send({ text: 'x', colour: 'red', size: 1 }))).toEqual([
      'colour unknownProperty',
      'size unknownProperty',
    ]);
    const decisions = [{ approvalId: `apr_${'0'.repeat(26)}`, decision: 'approve', force: true }];
    expect(faults(await caller().post('/approvals', { decisions }))).toEqual([
      'decisions.0.force unknownProperty',
    ]);
  });

  it('is refused by name in the query', async () => {
    expect(faults(await caller().get('/directives?colour=red'))).toEqual(['colour unknownProperty']);
  });

  it('is listed with every other fault at once', async () => {
    const before = await directives();
    const answer = await send({
      text: ' ',
      priority: 'urgent',
      capo: 'pope',
      context: [],
      deadline: 'x',
      teamId: 'x',
      colour: 1,
    });
    const paths = faults(answer).map((fault) => fault.split(' ')[0]);
    expect(new Set(paths)).toEqual(
      new Set(['text', 'priority', 'capo', 'context', 'deadline', 'teamId', 'colour']),
    );
    expect(await directives()).toBe(before);
  });
});

describe('the version header', () => {
  it('chooses the shape of every error', async () => {
    const asks: [number, (headers: Record<string, string>) => Promise<Answer>][] = [
      [400, (headers) => send('{', headers)],
      [401, (headers) => caller().get('/context', { 'x-service-token': 'no', ...headers })],
      [404, (headers) => caller().get('/nowhere', headers)],
      [404, (headers) => caller().get('/directives/dir_00000000000000000000000000', headers)],
      [405, (headers) => caller().send('PATCH', '/guardian', undefined, headers)],
      [415, (headers) => send('x', { 'Content-Type': 'text/plain', ...headers })],
      [422, (headers) => send({}, headers)],
    ];
    for (const [status, ask] of asks) {
      const [a, b] = [await ask({}), await ask(VERSION)];
      expect([a.status, b.status]).toEqual([status, status]);
      expectErrorShape(a, 'A');
      expectErrorShape(b, 'B');
    }
  });

  it.each(['2026-05', '1999-01', '2026-4', '2026-04-01', 'v1', ' ', '', '2026-04, 2026-04', '__proto__'])(
    'is refused with the supported list, and nothing is executed: %j',
    async (version) => {
      const before = await directives();
      const answer = await send({ text: 'x' }, { 'X-Service-API-Version': version });
      expect(answer.status).toBe(400);
      expectErrorShape(answer, 'A');
      expect(answer.body.error).toMatchObject({
        code: 'UNSUPPORTED_API_VERSION',
        details: { supported: ['2026-04'] },
      });
      expect(answer.headers.get('x-service-api-version')).toBe('2026-04');
      expect(answer.headers.get('vary')).toContain('X-Service-API-Version');
      expect(await directives()).toBe(before);
    },
  );

  it('names the methods of a path with a 405', async () => {
    const answer = await caller().send('PATCH', '/approvals');
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
  });
});

describe('an error that cannot be answered as it is', () => {
  @Controller()
  class Defective {
    @Get('defect')
    defect(): never {
      throw new NotFound({ headers: { 'X-Broken': 'two\nlines' } });
    }
  }

  @Module({ controllers: [Defective] })
  class ThrowAway {}

  it('becomes a 500, and no rejection that nobody handles', async () => {
    const app = await NestFactory.create(ThrowAway, { logger: false });
    const parts = [test.app.get(RouteTable), test.app.get(RefusedLimit), test.app.get(Callers)] as const;
    app.useGlobalFilters(new ErrorFilter(...parts, await test.app.resolve(PinoLogger)));
    app.use(startRequest);
    await app.listen(0, '127.0.0.1');
    try {
      const answer = await new Client(await app.getUrl(), undefined).get('/docs/../defect');
      expect(answer.status).toBe(500);
      expectErrorShape(answer, 'A');
    } finally {
      await app.close();
    }
  });
});

describe('a process', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(1, { PROCESS_ROLE: 'api', RATE_LIMIT_STORE: 'memory' });
  }, 60_000);
  afterAll(() => service.close());

  it.each(['/docs/%2f', '/docs/text%2fhtml', '/docs/swagger-ui.css%2f', '/%2f', '/%'])(
    'answers an error as JSON, whatever content type the path asks for: %s',
    async (path) => {
      const { url } = service.processes[0]!;
      const response = await fetch(url + path);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect([404, 400]).toContain(response.status);
      expect((await fetch(`${url}/health/live`)).status).toBe(200);
    },
  );

  it('answers hostile requests to any route with no 5xx, no stack, and one of the two shapes', async () => {
    const { directiveId, approvalId } = (await service.client().post('/directive', { text: 'x' })).body;
    const [process] = service.processes;
    // The document of the built program has the schemas of the bodies.
    const { routes, statuses } = await attackEveryRoute(process!.url, service, {
      ids: [directiveId, approvalId],
      runs: 30,
    }).catch((error: unknown) => {
      const failures = process!.logs.filter(({ level }) => level === 'error');
      throw new Error(JSON.stringify(failures.at(-1)?.['err']), { cause: error });
    });
    expect(routes).toBeGreaterThan(20);
    // The requests are not so hostile that nothing gets through.
    for (const status of [200, 201, 400, 404, 422]) {
      expect(statuses[status] ?? 0, `${status} in ${JSON.stringify(statuses)}`).toBeGreaterThan(0);
    }
  }, 120_000);

  it('takes only decimal digits for any number in a query, and names the parameter', async () => {
    const [process] = service.processes;
    const { paths } = (await (await fetch(`${process!.url}/openapi.json`)).json()) as {
      paths: Record<
        string,
        Record<string, { parameters?: { name: string; in: string; schema?: { type?: string } }[] }>
      >;
    };
    const numbers = Object.entries(paths).flatMap(([path, item]) =>
      (item['get']?.parameters ?? [])
        .filter((parameter) => parameter.in === 'query' && parameter.schema?.type === 'number')
        .map(({ name }) => [path, name] as const),
    );
    expect(numbers.map(([, name]) => name)).toEqual(
      expect.arrayContaining(['limit', 'offset', 'before', 'wait', 'from', 'to', 'heldSeq', 'lastEventId']),
    );
    for (const [path, name] of numbers) {
      for (const number of [
        '0x10',
        '0b1',
        '0o7',
        '1e1',
        '1.0',
        '+5',
        '-0',
        ' 5',
        '5 ',
        '5\n',
        '٣',
        '５',
        '1_0',
        '',
      ]) {
        const at = `${path.replace(/\{\w+\}/g, newId('apr'))}?${name}=${encodeURIComponent(number)}`;
        const answer = await new Client(process!.url, undefined).get(at, await credentialsFor(path, service));
        expect(answer.status, `${at} answered ${answer.text}`).toBe(422);
        const places = answer.body.error.details.map((fault: { path: string }) => fault.path);
        expect(places, at).toContain(name);
      }
    }
  });

  it('is well after all that', async () => {
    expect((await caller(service.processes[0]!.url, service.token).get('/guardian')).status).toBe(200);
    expect(service.processes[0]!.errors).toBe('');
  });
});
