import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { Client } from '../../support/client.js';
import type { Service } from '../../support/processes.js';
import { credentialsFor } from '../../support/sessions.js';
import { expectErrorShape, expectNoStack } from './error-shape.js';

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
  required?: string[];
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
}

interface Operation {
  parameters?: { name: string; in: string; schema?: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

interface HostileRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

/** Stands in a string for JSON that `JSON.stringify` would not write. */
const RAW = (json: string) => `<raw>${json}</raw>`;

const HOSTILE_TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  "'; drop table directives; --",
  '" or 1=1 --',
  '$1',
  '%',
  '\\',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '=cmd|calc!A1',
  'a\r\nBcc: x@example.com',
  '\u202e\u0000\ufeff',
  '\u{1f600}'.repeat(50),
  'x'.repeat(30_000),
  'NaN',
  'null',
  '-0',
  '1e400',
  '2026-02-29T12:00:00Z',
  '2026-02-28T24:00:00Z',
  '2026-12-31T23:59:60Z',
  '+275760-09-13T00:00:00.001Z',
  '-000001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999+23:59',
  '+05:30',
  'Europe/Nowhere',
  '2026-06-01',
];

const HOSTILE_VALUES = [
  ...[
    '1e400',
    '-1e400',
    '1e-400',
    '9223372036854775808',
    '-9223372036854775809',
    '9007199254740993',
    '-0',
    '0.1',
    '01',
  ],
  ...[
    'NaN',
    'Infinity',
    'undefined',
    '{"__proto__":{"admin":true}}',
    '{"constructor":{"prototype":{"a":1}}}',
  ],
  ...['{"a":1,"a":2}', '[1,]', '{"a":1,}', '/*c*/1', "'x'", '"\\u0000"', '"\\ud800"', '"\\q"', '"\t"'],
  ...[
    '['.repeat(40) + ']'.repeat(40),
    '{"toString":"x","valueOf":1,"hasOwnProperty":2,"then":3,"toJSON":4,"length":-1}',
  ],
].map(RAW);

const text = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string(),
);

const anyValue = fc.oneof(
  { weight: 3, arbitrary: text },
  { weight: 2, arbitrary: fc.constantFrom(...HOSTILE_VALUES) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      1.5,
      2 ** 53,
      1e300,
      [],
      {},
      [[]],
      [null],
      [{}],
    ),
  },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** Requests to one route: shaped as its document says, with what no document says in every place. */
function hostileRequests(
  document: OpenApi,
  { template, method, operation }: AttackedRoute,
  ids: readonly string[],
): fc.Arbitrary<HostileRequest> {
  const parameters = (place: string) =>
    (operation.parameters ?? []).filter((parameter) => parameter.in === place);
  const inPath = fc.record(
    Object.fromEntries(
      parameters('path').map(({ name }) => [
        name,
        fc.oneof(
          fc.constantFrom(...ids),
          text.map((value) => encodeURIComponent(value.toWellFormed()) || '-'),
          fc.constantFrom(
            '%00',
            '%',
            '%E0%A4%A',
            '%ED%A0%80',
            '..%2f..',
            '%2e%2e',
            '%2f',
            'text%2fhtml',
            'a%2fb%3bcharset%3dx',
            '%0d%0aX-Injected:%201',
            'start.js',
            'swagger-ui.css%00',
            '__proto__',
            'constructor',
            '*',
            'a'.repeat(3000),
          ),
        ),
      ]),
    ),
  );
  const names = parameters('query').map(({ name }) => name);
  const queryName =
    names.length > 0
      ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, strangeName)
      : strangeName;
  const query = fc.array(
    fc.tuple(
      queryName,
      fc.oneof(text, fc.constantFrom('1', '20', '0', '-1', '101', 'true', '9007199254740993')),
    ),
    {
      maxLength: 4,
    },
  );
  const schema = operation.requestBody?.content['application/json']?.schema;
  const body = ['get', 'head'].includes(method) ? fc.constant(undefined) : bodies(document, schema);
  // The pages for people are in no document, and take forms.
  const isPage = method === 'post' && !document.paths[template];
  const sent = body.map((json) => ({ body: json, type: {} }));
  const content = isPage ? fc.oneof(sent, forms) : sent;
  return fc.record({ inPath, query, content, headers: hostileHeaders }).map((request) => {
    const path = template.replace(/\{(\w+)\}/g, (_all, name: string) => request.inPath[name]!);
    const search = request.query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
    return {
      method: method.toUpperCase(),
      path: search === '' ? path : `${path}?${search}`,
      headers: { ...request.content.type, ...request.headers },
      body: request.content.body,
    };
  });
}

const strangeName = fc.constantFrom(
  '__proto__',
  'constructor',
  'a[b]',
  'a[]',
  'toString',
  'x',
  'limit',
  '\0',
  '',
);

/** What every object has, by names that a page would look up. */
const INHERITED = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__', '__defineGetter__'];

const fieldName = fc.oneof(
  fc.constantFrom('decision', 'feedback', 'choice', 'displayName', 'password'),
  fc.constantFrom(...INHERITED, ...INHERITED.map((name) => `x.params.${name}`)),
  strangeName,
);

const forms = fc
  .array(fc.tuple(fieldName, fc.oneof(text, fc.constantFrom('approve', 'reject', 'save', 'none'))), {
    minLength: 1,
    maxLength: 6,
  })
  .map((fields) => ({
    body: fields.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&'),
    type: { 'Content-Type': 'application/x-www-form-urlencoded' },
  }));

/** As it is where a URL takes it, and broken here and there. */
function encode(part: string): string {
  return part.isWellFormed() ? encodeURIComponent(part) : '%ED%A0%80%';
}

const hostileHeaders: fc.Arbitrary<Record<string, string>> = fc
  .record(
    {
      'X-Service-API-Version': fc.constantFrom(
        '2026-04',
        '2026-04',
        '2026-04',
        '1999-01',
        '',
        '2026-04, 2026-04',
        '__proto__',
      ),
      'Idempotency-Key': fc.constantFrom('k', '"k"', '', 'a b', 'x'.repeat(256), '"', '\u00e9'),
      'Content-Type': fc.constantFrom(
        'application/json; charset=utf-8',
        'application/json; charset=latin1',
        'text/plain',
        'application/json;',
        'application/x-www-form-urlencoded',
        '',
      ),
      'Content-Encoding': fc.constantFrom('gzip', 'identity', 'br'),
      'If-Match': fc.constantFrom('*', '""', '"x"', 'W/"x"', '\u00e9'),
      'Last-Event-ID': fc.constantFrom('0', '-1', 'x', '1e9', '99999999999999999999'),
      Accept: fc.constantFrom('text/csv', 'application/json', 'x/y', '*/*', ';;;', 'text/event-stream'),
      'X-Forwarded-For': fc.constantFrom('garbage', '::1, x', '1.2.3.4.5', '[::1]:80', ','),
      Authorization: fc.constantFrom('Bearer', 'Bearer x', 'Basic x', 'Bearer  '),
    },
    { requiredKeys: [] },
  )
  // Most requests have none of them: each alone ends most requests early.
  .chain((headers) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.constant(headers) }),
  );

function bodies(
  document: OpenApi,
  schema: Schema | undefined,
): fc.Arbitrary<string | Uint8Array | undefined> {
  const shaped = schema ? shapedBy(document, schema) : anyValue;
  return fc.oneof(
    { weight: 8, arbitrary: shaped.map(render) },
    { weight: 2, arbitrary: anyValue.map(render) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map((value) => value.toWellFormed()) },
    { weight: 1, arbitrary: fc.uint8Array({ minLength: 1 }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
    // A character cut off in the middle.
    {
      weight: 1,
      arbitrary: shaped.map((value) =>
        Buffer.concat([Buffer.from(render(value)), Buffer.from([0xf0, 0x9f])]),
      ),
    },
  );
}

function render(value: unknown): string {
  const json = JSON.stringify(value) ?? 'null';
  return json.replace(/"<raw>(.*?)<\/raw>"/g, (_all, raw: string) => JSON.parse(`"${raw}"`) as string);
}

/** Values as the schema has them, where each part may be something else, be missing, or have strangers beside it. */
function shapedBy(document: OpenApi, schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  if (depth > 6) return anyValue;
  const resolved = schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)!]! : schema;
  const alternatives = resolved.oneOf ?? resolved.anyOf ?? resolved.allOf;
  const inner = (part: Schema) =>
    fc.oneof(
      { weight: 3, arbitrary: shapedBy(document, part, depth + 1) },
      { weight: 1, arbitrary: anyValue },
    );
  if (alternatives) return fc.oneof(...alternatives.map(inner));
  if (resolved.enum)
    return fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...resolved.enum) },
      { weight: 1, arbitrary: anyValue },
    );
  switch (resolved.type) {
    case 'object': {
      const members = Object.fromEntries(
        Object.entries(resolved.properties ?? {}).map(([name, part]) => [
          name,
          resolved.required?.includes(name)
            ? inner(part)
            : fc.oneof({ weight: 4, arbitrary: inner(part) }, { weight: 1, arbitrary: fc.constant(null) }),
        ]),
      );
      const known = fc.oneof(
        fc.record(members, { requiredKeys: [] }),
        fc.record(
          Object.fromEntries((resolved.required ?? []).map((name) => [name, members[name] ?? anyValue])),
        ),
      );
      const strangers = fc.dictionary(
        fc.oneof(text, fc.constantFrom('id', 'workspaceId', 'constructor')),
        anyValue,
        { maxKeys: 2 },
      );
      return fc.oneof(
        { weight: 4, arbitrary: known },
        { weight: 1, arbitrary: fc.tuple(known, strangers).map(([a, b]) => ({ ...a, ...b })) },
      );
    }
    case 'array':
      return fc.array(inner(resolved.items ?? {}), { maxLength: 4 });
    case 'boolean':
      return fc.boolean();
    case 'number':
    case 'integer':
      return fc.oneof(
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(0, 1, 10, 2 ** 31, 2 ** 53),
      );
    default:
      return fc.oneof(
        text,
        fc.constantFrom('ops', 'high', 'USD', 'a plain sentence', '2027-01-01T00:00:00Z'),
      );
  }
}

/** Sends it from an address that has called nothing yet, and judges the answer. Answers the status. */
async function expectCivilAnswer(
  url: string,
  credentials: Record<string, string>,
  request: HostileRequest,
): Promise<number> {
  const { address } = new Client(url, undefined);
  const response = await fetch(url + request.path, {
    method: request.method,
    headers: {
      'X-Forwarded-For': address,
      ...credentials,
      ...(request.body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...request.headers,
    },
    ...(request.body === undefined ? {} : { body: request.body as string }),
  });
  const where = `${request.method} ${request.path.slice(0, 300)} ${JSON.stringify(request.headers)} ${String(request.body).slice(0, 1000)}`;
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return response.status;
  }
  const answer = await response.text();
  // A line of more than 16 KB is refused before its headers are read, the one that names a version included.
  const unread = request.path.length > 16_384;
  if (unread) expect([431, 429], where).toContain(response.status);
  expect(response.status, `${where} answered ${answer.slice(0, 300)}`).toBeLessThan(500);
  expect(response.headers.get('x-request-id'), where).toMatch(/^req_[0-9a-z]{26}$/);
  expect(response.headers.get('x-ratelimit-limit'), where).toMatch(/^\d+$/);
  const type = response.headers.get('content-type') ?? '';
  if (request.method === 'HEAD') {
    expect(answer, where).toBe('');
  } else if (type.startsWith('text/html')) {
    // The pages for people tell what is wrong as a page.
    expect(type, where).toBe('text/html; charset=utf-8');
    expect(answer, where).toMatch(/^<!doctype html>/);
    expectNoStack(answer, where);
  } else if (response.status >= 400) {
    const shape = request.headers['X-Service-API-Version'] === '2026-04' && !unread ? 'B' : 'A';
    const body = JSON.parse(answer);
    if ('jsonrpc' in body) {
      // A message of MCP that is not one is refused in the form of its protocol.
      expect(request.path, where).toMatch(/^\/mcp\b/);
      expect(body, where).toMatchObject({ jsonrpc: '2.0', error: { message: expect.any(String) } });
      expectNoStack(answer, where);
    } else {
      expectErrorShape(
        { status: response.status, headers: response.headers, body, text: answer },
        shape,
        where,
      );
    }
  } else {
    expectNoStack(answer, where);
  }
  return response.status;
}

/** Requests under way at once: some are answered while the next are made up, and what they share is fought over. */
const AT_ONCE = 8;

interface Attack {
  /** Hostile requests to each route, rounded up to whole batches. */
  runs: number;
  /** Ids that exist, for the paths. */
  ids: readonly string[];
  /** Which routes, by their number in the document; all unless said. */
  which?: (routeNumber: number) => boolean;
}

/** Hostile requests to every route and beyond, one route after another; answers how often each status came. */
export async function attackEveryRoute(
  url: string,
  service: Pick<Service, 'rows' | 'token' | 'workspaceId'>,
  { runs, ids, which = () => true }: Attack,
): Promise<{ routes: number; statuses: Record<number, number> }> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;
  const statuses: Record<number, number> = {};
  const routes = [...documentedRoutes(document), ...undocumentedRoutes(document)].filter((_, index) =>
    which(index),
  );
  for (const route of routes) {
    // Anew for each route: some end the session that calls them.
    const credentials = await credentialsFor(route.template, service);
    const together = fc.array(hostileRequests(document, route, ids), {
      minLength: AT_ONCE,
      maxLength: AT_ONCE,
    });
    await fc.assert(
      fc.asyncProperty(together, async (requests) => {
        const answers = requests.map((request) => expectCivilAnswer(url, credentials, request));
        for (const status of await Promise.all(answers)) statuses[status] = (statuses[status] ?? 0) + 1;
      }),
      { numRuns: Math.ceil(runs / AT_ONCE) },
    );
  }
  return { routes: routes.length, statuses };
}

interface AttackedRoute {
  template: string;
  method: string;
  operation: Operation;
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];

/** The kill switch last: it would close many of the others. */
function documentedRoutes({ paths }: OpenApi): AttackedRoute[] {
  return Object.entries(paths)
    .toSorted(([a], [b]) => Number(a.includes('guardian')) - Number(b.includes('guardian')))
    .flatMap(([template, item]) =>
      Object.entries(item)
        .filter(([method]) => METHODS.includes(method))
        .map(([method, operation]) => ({ template, method, operation })),
    );
}

/** Every line of it is a route of the program: `GET    /docs/:asset   public ...`; `npm run check` compares it with the source. */
const ROUTES = join(import.meta.dirname, '../../../docs/reference/routes.txt');

/** Every method at the paths outside of the API or left out of its document, and at paths that no route has. */
function undocumentedRoutes({ paths }: OpenApi): AttackedRoute[] {
  const all = readFileSync(ROUTES, 'utf8').trimEnd().split('\n');
  const hidden = new Set(
    all
      .map((line) => line.split(/ +/)[1]!.replace(/:([^/]+)/g, '{$1}'))
      .filter((template) => paths[template] === undefined || !template.startsWith('/api/')),
  );
  const nowhere = ['/{anything}', '/api/pro/{anything}', '/api/admin/{anything}', '/docs/{some}/{thing}'];
  return [...hidden, ...nowhere].flatMap((template) => {
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name: name!, in: 'path' }));
    return METHODS.map((method) => ({ template, method, operation: { parameters: names } }));
  });
}
