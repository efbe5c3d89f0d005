import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, machinePostgres } from '../support/machine-postgres.js';
import { type Service, startService } from '../support/processes.js';
import { allFound, programPath } from '../support/programs.js';
import { eventually } from '../support/test-app.js';
import { Probes } from './probes.js';
import { FeedFollower } from './feed-follower.js';
import { startMachineDatabase } from './machine-database.js';
import { ProxiedClient } from './proxied-client.js';
import { PROXIES, type Proxy, startProxy } from './proxies.js';
import { figuresOf, SteadyLoad } from './steady-load.js';

const programs = machinePostgres();
const found = allFound('the guide to proxies', {
  PostgreSQL: programs,
  nginx: programPath('nginx'),
  haproxy: programPath('haproxy'),
});

const MAX_BODY = 1024 * 1024;
/** To each proxy in turn. */
const REQUESTS_PER_SECOND = 50;
const LOAD_SECONDS = 30;
/** For the balancer to learn that a process is back. */
const NOTICED_MS = 3_000;

/** Many a balancer tries nothing twice, and takes a process out only after the second check that failed. */
const onChecksAlone = (printed: string) =>
  printed
    .replace('retries 3', 'retries 0')
    .replace(/^ *option redispatch.*$/m, '')
    .replace('fall 1', 'fall 2');

let addresses = 0;
/** A loopback address that nobody had before: limits are counted by address. */
const ownAddress = () => `127.1.${Math.floor(++addresses / 250)}.${(addresses % 250) + 1}`;

describe.skipIf(!found)('two processes behind a proxy', { timeout: 180_000 }, () => {
  let service: Service;
  let ports: number[];
  const proxies: Proxy[] = [];
  const clients: ProxiedClient[] = [];

  beforeAll(async () => {
    ports = [await freePort(), await freePort()];
    const database = await startMachineDatabase(programs!);
    service = await startService(1, { PORT: String(ports[0]), DRAIN_SECONDS: '5' }, database);
    await service.start({ PORT: String(ports[1]) });
    for (const program of PROXIES) proxies.push(await startProxy(program, ports));
    proxies.push(await startProxy('haproxy', ports, onChecksAlone));
    // HAProxy takes both for well until its first check has been answered.
    await sleep(NOTICED_MS);
  }, 120_000);
  afterAll(async () => {
    for (const one of clients) one.close();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await service?.close();
  });

  const client = (proxy: number, address = ownAddress()) => {
    const made = new ProxiedClient(proxies[proxy]!, service.token, address);
    clients.push(made);
    return made;
  };
  const revenue = (externalId: string) => ({ amount: 1, currency: 'EUR', source: 'test', externalId });
  /** The body of such an event in four parts. */
  const inParts = (externalId: string) => {
    const text = JSON.stringify(revenue(externalId));
    return [0, 1, 2, 3].map((part) => text.slice((part * text.length) / 4, ((part + 1) * text.length) / 4));
  };
  const recorded = async (prefix: string) => {
    const rows = await service.rows<{ id: string }>(
      'select external_id as id from revenue_events where external_id like $1',
      [`${prefix}%`],
    );
    return rows.map(({ id }) => id).toSorted();
  };

  describe.each(PROXIES.map((program, proxy) => [program, proxy] as const))('%s', (program, proxy) => {
    it('tells the address of each client, whatever the client says of itself', async () => {
      const left = async (one: ProxiedClient, forged?: string) => {
        const { status, headers } = await one.get(
          '/agents',
          forged === undefined ? {} : { 'X-Forwarded-For': forged },
        );
        expect(status).toBe(200);
        return Number(headers['x-ratelimit-remaining']);
      };
      const first = client(proxy);
      const before = await left(first);
      expect(await left(first, '203.0.113.7')).toBe(before - 1);
      expect(await left(first, '203.0.113.8, 203.0.113.9')).toBe(before - 2);
      expect(await left(client(proxy))).toBe(before);
      // The same address over a connection of its own is the same client.
      expect(await left(client(proxy, first.address))).toBe(before - 3);
    });

    it('hides the figures and passes on health', async () => {
      expect((await client(proxy).get('/metrics')).status).toBe(404);
      expect((await client(proxy).get('/health/ready')).body).toEqual({ status: 'ok' });
    });

    it('passes on events of the stream as they happen', async () => {
      const follower = new FeedFollower(client(proxy));
      await eventually(async () => follower.opened === 1);
      await client(proxy).post('/revenue-events', revenue(`stream-${program}`));
      await eventually(async () => follower.text.includes('revenue.recorded'));
      await follower.close();
      expect(follower.failures).toEqual([]);
    });

    it('takes a body of 1 MB and refuses a larger one', async () => {
      const post = (externalId: string, bytes: number) =>
        client(proxy).send('POST', '/revenue-events', JSON.stringify(revenue(externalId)).padEnd(bytes, ' '));
      expect((await post(`whole-${program}`, MAX_BODY)).status).toBe(201);
      expect((await post(`larger-${program}`, MAX_BODY + 1)).status).toBe(413);
      expect(await recorded(`whole-${program}`)).toHaveLength(1);
      expect(await recorded(`larger-${program}`)).toEqual([]);
    });
  });

  it('let a request wait for 30 seconds, and take a body that comes slowly', async () => {
    const one = client(0);
    expect((await one.post('/agents/capo_ops/pause', {})).status).toBe(200);
    const handedIn = await one.post('/directive', { text: 'Wait.', capo: 'capo_ops' });
    expect(handedIn.status).toBe(201);
    const waits = PROXIES.map(async (_program, proxy) => {
      const { status, body } = await client(proxy).get(`/approvals/${handedIn.body.approvalId}?wait=30`);
      expect([status, body.ready]).toEqual([200, false]);
    });
    const slow = PROXIES.map(async (program, proxy) => {
      const reply = await client(proxy).send(
        'POST',
        '/revenue-events',
        inParts(`slow-${program}`),
        {},
        3_000,
      );
      expect(reply.status).toBe(201);
    });
    await Promise.all([...waits, ...slow]);
    expect((await one.post('/agents/capo_ops/resume', {})).status).toBe(200);
  });

  it('fails no request while the processes are restarted in turn, also where a balancer tries nothing twice', async () => {
    const followers = proxies.map((_proxy, index) => new FeedFollower(client(index)));
    await eventually(async () => followers.every(({ opened }) => opened === 1));
    // Each keeps its connections, and asks each route less than 30 times a minute.
    const callers = Array.from({ length: 3 * REQUESTS_PER_SECOND }, (_, index) =>
      client(index % proxies.length),
    );
    const accepted: string[] = [];
    const load = new SteadyLoad(REQUESTS_PER_SECOND, async (index) => {
      const caller = callers[index % callers.length]!;
      const isWrite = Math.floor(index / callers.length) % 2 === 0;
      const externalId = `load-${index}`;
      const { status, headers } = isWrite
        ? await caller.post('/revenue-events', revenue(externalId))
        : await caller.get('/agents');
      if (isWrite && status === 201) accepted.push(externalId);
      return { status, retryAfter: headers['retry-after'] };
    });
    const serving = [...service.processes];
    const loaded = sleep(LOAD_SECONDS * 1000);
    const probes = ports.map((port) => new Probes(`http://127.0.0.1:${port}`));
    await sleep(2_000);
    const restarts: object[] = [];
    const slow: Promise<{ status: number }>[] = [];
    for (const index of [0, 1]) {
      // Under way when the process is told to end.
      for (const proxy of [0, 1, 2, 0, 1, 2]) {
        const parts = inParts(`restart-${slow.length}`);
        slow.push(client(proxy).send('POST', '/revenue-events', parts, {}, 1_000));
      }
      await sleep(200);
      const began = performance.now();
      const code = await serving[index]!.stop();
      const endedMs = Math.round(performance.now() - began);
      serving[index] = await startAgain(index);
      restarts.push({ code, endedMs, backMs: Math.round(performance.now() - began) });
      await sleep(NOTICED_MS);
    }
    await loaded;
    const figures = figuresOf(await load.stop());
    const slowStatuses = (await Promise.all(slow)).map(({ status }) => status);
    await sleep(500);
    await Promise.all(followers.map((follower) => follower.close()));
    const probed = probes.map((one) => one.stop());
    console.info('rolling restart', JSON.stringify({ figures, slowStatuses, restarts, probed }, null, 2));
    for (const follower of followers) {
      const seqs = await service.rows<{ seq: string }>(
        'select seq from receipts where seq between $1 and $2 order by seq',
        [follower.ids[0], follower.ids.at(-1)],
      );
      console.info(
        'stream',
        JSON.stringify({ opened: follower.opened, events: follower.ids.length, failures: follower.failures }),
      );
      expect(follower.ids).toEqual(seqs.map(({ seq }) => Number(seq)));
      expect(follower.failures).toEqual([]);
    }
    expect(restarts).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect(Object.keys(figures.statuses).toSorted()).toEqual(['200', '201']);
    // Each was seen to be about to end while it still answered, so a balancer has time to take it out.
    for (const seen of probed) expect(seen.slice(0, 3)).toEqual([200, 503, 'refused']);
    expect(slowStatuses).toEqual(slow.map(() => 201));
    expect(await recorded('load-')).toEqual(accepted.toSorted());
    expect(new Set(service.processes.map(({ errors }) => errors))).toEqual(new Set(['']));
  });

  /** On the port that the proxies know. */
  const startAgain = (index: number) => service.start({ PORT: String(ports[index]) });
});
