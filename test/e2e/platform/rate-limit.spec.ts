import { DiscoveryService } from '@nestjs/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, Client } from '../../support/client.js';
import { type Service, startService } from '../../support/processes.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const endOf = (windowMs: number, now = Date.now()) => (Math.floor(now / windowMs) + 1) * (windowMs / 1000);

function limits({ headers }: Answer) {
  const number = (name: string) => {
    const value = headers.get(`x-ratelimit-${name}`);
    expect(value, `X-RateLimit-${name}`).toMatch(/^\d+$/);
    return Number(value);
  };
  return { limit: number('limit'), remaining: number('remaining'), reset: number('reset') };
}

/** The refusal that comes when it calls again and again. */
async function untilLimited(
  client: Client,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  for (let calls = 0; calls < 100; calls++) {
    const answer = await client.get(path, headers);
    if (answer.status === 429) return answer;
  }
  throw new Error('never limited');
}

describe.each(['memory', 'postgres'])('the limits, counted in %s', (store) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp({ RATE_LIMIT_STORE: store, PROCESS_ROLE: 'api' });
    test.clock.stopAtMinute();
  });
  afterAll(() => test.close());

  /** From an address that has called nothing yet. */
  const caller = (token = test.owner.token) => new Client(test.url, token);
  const from = (address: string, path: string, method = 'GET') =>
    caller().send(method, path, undefined, { 'X-Forwarded-For': address });

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    caller().send(method, path, body, headers);

  it('count each probe by itself, and refuse none', async () => {
    const balancer = caller(undefined);
    const many = async (path: string, count: number) => {
      const answers = await Promise.all(Array.from({ length: count }, () => balancer.get(path)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      return Math.min(...answers.map((answer) => limits(answer).remaining));
    };
    expect(await many('/health/ready', 100)).toBe(500);
    for (let calls = 0; calls < 600; calls += 100) await many('/health/live', 100);
    expect(await many('/health/live', 1)).toBe(0);
    expect(await many('/health/ready', 1)).toBe(499);
  });

  it.each<[status: number, limit: number, () => Promise<Answer>]>([
    [200, 60, () => send('GET', '/context')],
    [201, 20, () => send('POST', '/directive', { text: 'x' })],
    [400, 60, () => send('GET', '/context', undefined, { 'X-Service-API-Version': '1999-01' })],
    [400, 20, () => send('POST', '/directive', '{')],
    [400, 60, () => send('GET', '/%E0%A4%A')],
    [401, 60, () => send('GET', '/context', undefined, { 'x-service-token': 'no' })],
    [404, 60, () => send('GET', '/nowhere')],
    [404, 60, () => send('GET', '/directives/dir_00000000000000000000000000')],
    [405, 60, () => send('PATCH', '/guardian')],
    [413, 20, () => send('POST', '/directive', `{"text":"${'x'.repeat(2 ** 20)}"}`)],
    [415, 20, () => send('POST', '/directive', 'text', { 'Content-Type': 'text/plain' })],
    [422, 20, () => send('POST', '/directive', {})],
  ])('show on a %i where the window of %i stands', async (status, limit, ask) => {
    const answer = await ask();
    expect(answer.status).toBe(status);
    expect(limits(answer)).toEqual({
      limit,
      remaining: limit - 1,
      reset: endOf(MINUTE_MS, test.clock.now()),
    });
    expect(answer.headers.get('retry-after')).toBeNull();
  });

  it('show on a 500 where the window stands', async () => {
    await test.rows('alter table directives rename to directives_away');
    const answer = await send('GET', '/directives');
    await test.rows('alter table directives_away rename to directives');
    expect(answer.status).toBe(500);
    expect(limits(answer)).toEqual({ limit: 60, remaining: 59, reset: endOf(MINUTE_MS, test.clock.now()) });
    expect(Object.keys(answer.body.error).toSorted()).toEqual(['code', 'message', 'status']);
  });

  it.each(['HEAD', 'OPTIONS'])('show on %s', async (method) => {
    for (const path of ['/api/pro/guardian', '/api/pro/nowhere']) {
      const headers = { 'x-service-token': test.owner.token!, 'X-Forwarded-For': caller().address };
      const answer = await fetch(test.url + path, { method, headers });
      expect(answer.status).toBeLessThan(500);
      expect(answer.headers.get('x-ratelimit-limit'), `${method} ${path}`).toBe('60');
      expect(answer.headers.get('x-ratelimit-remaining')).toBe('59');
    }
  });

  it('refuse with 429 in shape A', async () => {
    const answer = await untilLimited(caller(), '/context');
    expect(limits(answer)).toEqual({ limit: 60, remaining: 0, reset: endOf(MINUTE_MS, test.clock.now()) });
    expect(answer.body).toEqual({
      error: {
        code: 'RATE_LIMITED',
        message: expect.any(String),
        status: 429,
        details: { policy: 'route', limit: 60, windowSeconds: 60, remaining: 0 },
      },
      reason: 'rate_limited',
      requestId: answer.headers.get('x-request-id'),
    });
    const retryAfter = answer.headers.get('retry-after');
    expect(retryAfter).toMatch(/^[1-9]\d*$/);
    expect(
      Math.abs(test.clock.now() / 1000 + Number(retryAfter) - endOf(MINUTE_MS, test.clock.now())),
    ).toBeLessThan(1.5);
  });

  it('refuse with 429 in shape B', async () => {
    const answer = await untilLimited(caller(), '/context', { 'X-Service-API-Version': '2026-04' });
    expect(answer.body).toEqual({
      error: 'rate_limited',
      reason: 'rate_limited',
      requestId: answer.headers.get('x-request-id'),
      message: expect.any(String),
      status: 429,
      details: { policy: 'route', limit: 60, windowSeconds: 60, remaining: 0 },
    });
  });

  it('hold on paths that no route has', async () => {
    const answer = await untilLimited(caller(), '/nowhere', { 'X-Service-API-Version': '2026-04' });
    expect(answer.body).toMatchObject({ error: 'rate_limited', status: 429 });
  });

  it('count both spellings of the kill switch together', async () => {
    const client = caller((await test.createMember(test.workspaceId, 'viewer')).token);
    const left = [];
    for (const path of ['kill-switch', 'killswitch', 'kill-switch']) {
      const answer = await client.post(`/guardian/${path}`);
      expect(answer.status).toBe(403);
      left.push(limits(answer).remaining);
    }
    expect(left).toEqual([29, 28, 27]);
  });

  it('count the two methods of a path that SPECIFICATION gives one number together', async () => {
    const client = caller();
    expect(limits(await client.get('/approvals')).remaining).toBe(29);
    expect(limits(await client.post('/approvals', {})).remaining).toBe(28);
  });

  it.each([
    ['/guardian', 'a route'],
    ['/nowhere', 'no route'],
  ])('count IPv6 addresses per /64 on %s (%s)', async (path) => {
    const network = `2001:db8:${path.length.toString(16)}`;
    const left = [];
    for (const address of [
      `${network}:2::1`,
      `${network}:2:ffff:1:2:3`,
      `${network.toUpperCase()}:0002:0:0:0:9`,
      `${network}:3::1`,
    ]) {
      left.push(limits(await from(address, path)).remaining);
    }
    expect(left).toEqual([59, 58, 57, 59]);
  });

  it('count an IPv4 address and its IPv6 form together', async () => {
    expect(limits(await from('192.0.2.77', '/guardian')).remaining).toBe(59);
    expect(limits(await from('::ffff:192.0.2.77', '/guardian')).remaining).toBe(58);
  });

  it.each([
    ['a port', ['198.51.100.3', '198.51.100.3:1234', '198.51.100.3:1235', ' 198.51.100.3 ']],
    [
      'IPv4 in IPv6',
      [
        '198.51.100.4',
        '::ffff:198.51.100.4',
        '::FFFF:c633:6404',
        '[::ffff:198.51.100.4]:80',
        '0:0:0:0:0:ffff:c633:6404',
      ],
    ],
    [
      'brackets, ports, zones and zeros',
      [
        '2001:db8:77::1',
        '[2001:db8:77::1]',
        '[2001:db8:77::2]:443',
        '2001:0db8:0077:0000::3',
        '2001:db8:77::1%eth0',
      ],
    ],
  ])('count the spellings of one address together: %s', async (_case, spellings) => {
    const left = [];
    for (const path of ['/guardian', '/nowhere']) {
      for (const spelling of spellings) left.push(limits(await from(spelling, path)).remaining);
    }
    const expected = spellings.map((_spelling, index) => 59 - index);
    expect(left).toEqual([...expected, ...expected]);
  });

  it('count what is no address as the address of the socket', async () => {
    const nonsense = [
      'unknown',
      '_hidden',
      '198.051.100.003',
      '198.51.100.300',
      '198.51.100.3:port',
      '[198.51.100.3',
      '2001:db8::1::2',
      '',
      '=cmd',
      'x'.repeat(500),
    ];
    const left: number[] = [];
    for (const entry of nonsense) left.push(limits(await from(entry, '/metrics')).remaining);
    expect(left).toEqual(nonsense.map((_entry, index) => left[0]! - index));
  });

  it('stand whatever a client claims its address is', async () => {
    // The proxy adds the address it saw behind what the client sent.
    expect(limits(await from('203.0.113.1, 192.0.2.78', '/guardian')).remaining).toBe(59);
    expect(limits(await from('203.0.113.2, 192.0.2.78', '/guardian')).remaining).toBe(58);
  });

  describe('tiers', () => {
    it('free has 10 a minute over all routes and addresses', async () => {
      const { owner } = await test.createWorkspace('free');
      const left = [];
      for (let call = 0; call < 10; call++) {
        const answer = await caller(owner.token).get(call % 2 ? '/guardian' : '/directives');
        expect(answer.status).toBe(200);
        left.push(limits(answer).remaining);
      }
      expect(left).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
      const refused = await caller(owner.token).get('/directives');
      expect(refused.status).toBe(429);
      expect(refused.body.error.details).toMatchObject({
        policy: 'tier-minute',
        limit: 10,
        windowSeconds: 60,
      });
      expect(limits(refused)).toEqual({ limit: 10, remaining: 0, reset: endOf(MINUTE_MS, test.clock.now()) });
    });

    it('free has 100 a day', async () => {
      const { workspaceId, owner } = await test.createWorkspace('free');
      await test.rows(`insert into tier_days values ($1, (now() at time zone 'UTC')::date, 98)`, [
        workspaceId,
      ]);
      const ask = () => caller(owner.token).get('/guardian');
      expect(limits(await ask())).toEqual({
        limit: 100,
        remaining: 1,
        reset: endOf(DAY_MS, test.clock.now()),
      });
      expect((await ask()).status).toBe(200);
      const refused = await ask();
      expect(refused.status).toBe(429);
      expect(refused.body.error.details).toMatchObject({
        policy: 'tier-day',
        limit: 100,
        windowSeconds: 86_400,
      });
      expect(limits(refused)).toEqual({ limit: 100, remaining: 0, reset: endOf(DAY_MS, test.clock.now()) });
      const retryAfter = Number(refused.headers.get('retry-after'));
      expect(Math.abs(test.clock.now() / 1000 + retryAfter - endOf(DAY_MS, test.clock.now()))).toBeLessThan(
        1.5,
      );
    });

    it('pro has 120 a minute and 10,000 a day', async () => {
      const { workspaceId, owner } = await test.createWorkspace('pro');
      await test.rows(`insert into tier_days values ($1, (now() at time zone 'UTC')::date, 9999)`, [
        workspaceId,
      ]);
      expect(limits(await caller(owner.token).get('/guardian'))).toMatchObject({
        limit: 10_000,
        remaining: 0,
      });
      const other = await test.createWorkspace('pro');
      for (let call = 0; call < 70; call++) await caller(other.owner.token).get('/guardian');
      expect(limits(await caller(other.owner.token).get('/guardian'))).toMatchObject({
        limit: 120,
        remaining: 49,
      });
    });

    it('agents together use at most 80 % of the minute and of the day, and people the rest', async () => {
      const { workspaceId, owner } = await test.createWorkspace('free');
      await test.rows(`insert into tier_days values ($1, (now() at time zone 'UTC')::date, 66)`, [
        workspaceId,
      ]);
      const made = ['one', 'other'].map((name) =>
        owner.post('/tokens', { name, agent: { name }, tools: ['pay.*'] }),
      );
      const agents = (await Promise.all(made)).map(({ body }) => body.token);
      const ask = (agent: number) => caller(agents[agent]).get('/action-requests');
      const read = () => caller(owner.token).get('/guardian');
      for (let call = 0; call < 6; call++) expect((await ask(call % 2)).status).toBe(200);
      for (let call = 0; call < 5; call++) {
        const { status, body } = await ask(call % 2);
        expect(status).toBe(429);
        const details = { policy: 'tier-minute', limit: 8, windowSeconds: 60, remaining: 0, tierLimit: 10 };
        expect(body.error).toMatchObject({ message: expect.stringContaining('Agents'), details });
      }
      expect([limits(await read()).remaining, limits(await read()).remaining]).toEqual([1, 0]);
      expect([(await read()).status, (await ask(0)).status]).toEqual([429, 429]);
      test.clock.advance(MINUTE_MS);
      const today = await ask(0);
      expect(today.body.error.details).toMatchObject({ policy: 'tier-day', limit: 80, tierLimit: 100 });
      expect((await read()).status).toBe(200);
    });

    it('enterprise has none, but keeps the limits of routes', async () => {
      const answers = await Promise.all(Array.from({ length: 200 }, () => caller().get('/guardian')));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(answers.map((answer) => limits(answer).limit))).toEqual(new Set([60]));
    });

    it('the tier of one workspace does not limit another', async () => {
      const [one, other] = [await test.createWorkspace('free'), await test.createWorkspace('free')];
      for (let call = 0; call < 11; call++) await caller(one.owner.token).get('/guardian');
      expect((await caller(one.owner.token).get('/guardian')).status).toBe(429);
      expect((await caller(other.owner.token).get('/guardian')).status).toBe(200);
    });
  });
});

describe('without a trusted proxy', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp({ TRUST_PROXY: '0' });
    test.clock.stopAtMinute();
  });
  afterAll(() => test.close());

  it('what a client claims its address is counts for nothing', async () => {
    const left = [];
    for (let call = 0; call < 3; call++) {
      left.push(limits(await new Client(test.url, test.owner.token).get('/guardian')).remaining);
    }
    expect(left).toEqual([59, 58, 57]);
  });
});

describe('three processes over one store', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(3, { PROCESS_ROLE: 'api' });
  }, 90_000);
  afterAll(() => service.close());

  it('admit exactly 60 of 1,000 simultaneous requests in a minute', { timeout: 90_000 }, async () => {
    const clients = service.processes.map((process) => service.client(process));
    const address = clients[0]!.address;
    for (const client of clients) await client.get('/guardian');
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        clients[index % 3]!.get('/context', { 'X-Forwarded-For': address }),
      ),
    );
    // A minute may end meanwhile: each window admits its 60.
    for (const all of Map.groupBy(answers, (answer) => limits(answer).reset).values()) {
      const admitted = all.filter(({ status }) => status === 200);
      expect(admitted).toHaveLength(Math.min(60, all.length));
      const left = admitted.map((answer) => limits(answer).remaining).toSorted((a, b) => b - a);
      expect(left).toEqual(Array.from(admitted, (_, index) => 59 - index));
      expect(new Set(all.filter((one) => !admitted.includes(one)).map(({ status }) => status))).toEqual(
        new Set(all.length > 60 ? [429] : []),
      );
    }
  });
});

describe('what is done at intervals', () => {
  it('is registered once, whatever names its provider has', async () => {
    const test = await startTestApp({ RATE_LIMIT_STORE: 'postgres' });
    try {
      const wrappers = test.app.get(DiscoveryService, { strict: false }).getProviders();
      const scheduled = wrappers
        .map(({ instance }) => instance as object | undefined)
        .filter((instance) => instance && hasInterval(Object.getPrototypeOf(instance)));
      expect(scheduled.length).toBeGreaterThan(1);
      expect(scheduled).toHaveLength(new Set(scheduled).size);
    } finally {
      await test.close();
    }
  });

  function hasInterval(prototype: Record<string, unknown> | null): boolean {
    return Object.values(Object.getOwnPropertyDescriptors(prototype ?? {})).some(
      ({ value }) => typeof value === 'function' && Reflect.hasMetadata('SCHEDULE_INTERVAL_OPTIONS', value),
    );
  }
});
