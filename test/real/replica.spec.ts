import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Consigliere } from '@consigliere/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IdPrefix, newId } from '../../src/platform/kernel/ids.js';
import { codeIn, rowsBelow } from '../docs/database-reach.js';
import { Client } from '../support/client.js';
import { type MachineServer, machinePostgres, startReplica } from '../support/machine-postgres.js';
import { type Service, type ServiceProcess, startService } from '../support/processes.js';
import { allFound } from '../support/programs.js';
import { eventually } from '../support/test-app.js';
import { type MachineDatabase, startMachineDatabase } from './machine-database.js';
import { readsOf } from './replicated-service.js';
import { figuresOf, SteadyLoad } from './steady-load.js';

const programs = machinePostgres();
const found = allFound('a streaming replica', { PostgreSQL: programs });

const DELAY_MS = 200;
const PAIRS = 1_000;
/** How many of them go on at the same time, each in a workspace of its own. */
const AT_ONCE = 10;
/** From one address, whose requests are limited. */
const PAIRS_PER_CLIENT = 20;
const LEFT_WITHIN_MS = 5_000;

const PREFIXES: Record<string, IdPrefix> = {
  connectors: 'con',
  chat: 'cnv',
  deliveries: 'dlv',
  directives: 'dir',
  documents: 'doc',
  escalations: 'esc',
  evals: 'evl',
  schedules: 'sch',
  signals: 'sig',
  'skill-packs': 'pck',
  'standing-orders': 'so',
  webhooks: 'whk',
  'work-packets': 'pkt',
};
const idOf = (noun: string) => (PREFIXES[noun] ? newId(PREFIXES[noun]) : noun === 'tools' ? 'none' : '1');

let addresses = 0;
const ownAddress = () => `10.9.${Math.floor(++addresses / 250)}.${(addresses % 250) + 1}`;

const revenue = (externalId: string) => ({ amount: 1, currency: 'EUR', source: 'test', externalId });

describe.skipIf(!found)('a replica 200 ms late', { timeout: 300_000 }, () => {
  let database: MachineDatabase;
  let replica: MachineServer;
  let service: Service;
  beforeAll(async () => {
    database = await startMachineDatabase(programs!);
    replica = await startReplica(programs!, database.server, { delayMs: DELAY_MS });
    service = await startService(
      1,
      { DATABASE_READ_URL: `${replica.url}/consigliere`, DATABASE_READ_LAG_SECONDS: '2' },
      database,
    );
    await isTaken();
  }, 120_000);
  afterAll(async () => {
    await service?.close();
    await replica?.stop();
  });

  const reads = () => readsOf(service.processes[0]!);

  async function readsDuring(act: () => Promise<unknown>): Promise<Record<string, number>> {
    const before = await reads();
    await act();
    const after = await reads();
    return Object.fromEntries(Object.entries(after).map(([name, count]) => [name, count - before[name]!]));
  }

  /** Once a read is answered by the replica. */
  const isTaken = () =>
    eventually(
      () => readsDuring(() => service.client().get('/kpi')),
      ({ replica: answered }) => answered! > 0,
      15,
    );

  const sdk = (token: string) =>
    new Consigliere({
      token,
      baseUrl: service.processes[0]!.url,
      headers: { 'X-Forwarded-For': ownAddress() },
    });

  it('answers every route that docs/scaling.md lists, with nothing read from the primary', async () => {
    const guide = await readFile(join(import.meta.dirname, '../../docs/scaling.md'), 'utf8');
    const table = await readFile(join(import.meta.dirname, '../../docs/reference/routes.txt'), 'utf8');
    const listed = rowsBelow(guide, 'Read replicas').map(([paths, to]) => ({
      paths: codeIn(paths!),
      isListed: to === 'yes',
    }));
    const isListed = (path: string) => {
      const covering = listed.flatMap(({ paths, ...row }) => paths.map((above) => ({ above, ...row })));
      return covering
        .filter(({ above }) => path === above || path.startsWith(`${above}/`))
        .toSorted((a, b) => b.above.length - a.above.length)[0]!.isListed;
    };
    const paths = [...table.matchAll(/^GET +\/api\/pro(\/\S+) .* token /gm)]
      .map(([, path]) => path!)
      .filter(isListed);
    expect(paths.length).toBeGreaterThan(40);
    for (const path of paths) {
      // Nothing has these ids: the primary is asked once more, by a read that counts as no read of the replica's.
      const real = path.replace(/\/([\w-]+)\/:\w+/g, (_, noun: string) => `/${noun}/${idOf(noun)}`);
      let status = 0;
      const { replica: there, ...elsewhere } = await readsDuring(async () => {
        ({ status } = await service.client().get(`/api/pro${real}`));
      });
      expect({ path, isThere: there! > 0, elsewhere }).toEqual({
        path,
        isThere: true,
        elsewhere: { behind: 0, late: 0, down: 0 },
      });
      expect([200, 404], path).toContain(status);
    }
  });

  it('shows each of 1,000 callers at once what they have changed, by the SDK', async () => {
    const missing: string[] = [];
    const counts = await readsDuring(() =>
      Promise.all(
        Array.from({ length: AT_ONCE }, async (_, worker) => {
          const { token } = await service.createWorkspace('enterprise');
          let client = sdk(token);
          for (let pair = worker; pair < PAIRS; pair += AT_ONCE) {
            if (Math.floor(pair / AT_ONCE) % PAIRS_PER_CLIENT === 0) client = sdk(token);
            const name = `pair ${pair}`;
            const [act, isShown] = SHOWN[pair % SHOWN.length]!;
            const made = await act(client, name);
            // Some reads come so late that the replica can answer them.
            await sleep((pair % 5) * 100);
            if (!(await isShown(client, name, made))) missing.push(name);
          }
        }),
      ),
    );
    console.info('1,000 acts and their reads', JSON.stringify({ missing: missing.length, ...counts }));
    expect(missing).toEqual([]);
  });

  /** An act, and whether its caller's next read shows it. */
  const SHOWN: [
    act: (client: Consigliere, name: string) => PromiseLike<any>,
    isShown: (client: Consigliere, name: string, made: any) => Promise<boolean>,
  ][] = [
    [
      (client, name) => client.request('POST', '/api/pro/revenue-events', { body: revenue(name) }),
      async (client, name) => {
        const { items } = await client.request<any>('GET', '/api/pro/revenue-events?limit=1');
        return items[0]?.externalId === name;
      },
    ],
    [
      (client, name) => client.directives.create({ directive: `Note ${name}.`, capo: 'capo_ops' }),
      async (client, _name, { directiveId }) => {
        const { items } = await client.request<any>('GET', '/api/pro/directives?limit=1');
        return items[0]?.directiveId === directiveId;
      },
    ],
    [
      (client, name) => client.request('PUT', '/api/pro/settings', { body: { sender: { signature: name } } }),
      async (client, name) => {
        const { sender } = await client.request<any>('GET', '/api/pro/settings');
        return sender.signature === name;
      },
    ],
  ];

  it('is late for whom sends no position, and finds what has just been made by its id all the same', async () => {
    const client = service.client();
    let stale = 0;
    for (let n = 0; n < 5; n++) {
      await client.post('/revenue-events', revenue(`without ${n}`));
      const { body } = await client.get('/revenue-events?limit=1');
      if (body.items[0]?.externalId !== `without ${n}`) stale++;
      const { headers } = await client.post('/revenue-events', revenue(`with ${n}`));
      const position = headers.get('x-service-position')!;
      expect(position).toMatch(/^[\dA-F]{24}$/);
      for (const sent of [position, 'latest']) {
        const fresh = await client.get('/revenue-events?limit=1', { 'X-Service-Position': sent });
        expect(fresh.body.items[0]!.externalId).toBe(`with ${n}`);
      }
    }
    expect(stale).toBeGreaterThan(0);
    const { body } = await client.post('/directives', { directive: 'Note it.', capo: 'capo_ops' });
    expect((await client.get(`/directives/${body.directiveId}`)).status).toBe(200);
  });

  it('answers at least 80 % of the reads of ten callers who change something now and then', async () => {
    const callers = Array.from({ length: 10 }, () => sdk(service.token));
    const asked = ['/kpi', '/directives', '/work-packets', '/reports', '/signals', '/revenue-events'];
    let acts = 0;
    let load: SteadyLoad;
    const counts = await readsDuring(async () => {
      load = new SteadyLoad(40, async (index) => {
        const caller = callers[index % 10]!;
        const turn = Math.floor(index / 10);
        // One request of ten changes something.
        const isAct = turn % 10 === index % 10;
        if (isAct) acts++;
        await (isAct
          ? caller.request('POST', '/api/pro/revenue-events', { body: revenue(`load ${index}`) })
          : caller.request('GET', `/api/pro${asked[turn % asked.length]}`));
        return { status: 200, retryAfter: undefined };
      });
      await sleep(20_000);
      await load.stop();
    });
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const share = counts['replica']! / total;
    console.info('ten callers', JSON.stringify({ acts, share, ...counts, ...figuresOf(load!.outcomes) }));
    expect(figuresOf(load!.outcomes).statuses).toEqual({ 200: load!.outcomes.length });
    expect(share).toBeGreaterThan(0.8);
  });

  it.each([
    ['killed', () => replica.crash(), () => replica.start()],
    ['frozen', () => replica.signal('SIGSTOP'), () => replica.signal('SIGCONT')],
  ])('is left within five seconds when it is %s, and taken again', async (name, end, again) => {
    const callers = Array.from({ length: 20 }, () => new Client(service.processes[0]!.url, service.token));
    const began: number[] = [];
    const load = new SteadyLoad(50, async (index) => {
      began.push(performance.now());
      const caller = Object.assign(callers[index % 20]!, { address: ownAddress() });
      const { status } = await caller.get('/revenue-events');
      return { status, retryAfter: undefined };
    });
    await sleep(2_000);
    const endedAt = performance.now();
    await end();
    await sleep(8_000);
    const counts = await readsDuring(() => sleep(1_000));
    const outcomes = await load.stop();
    // In the order in which they were answered; each began so long before.
    const slow = outcomes.filter(({ tookMs }) => tookMs > 500);
    console.info(name, JSON.stringify({ ...figuresOf(outcomes), slow: slow.length, counts }));
    expect(figuresOf(outcomes).statuses).toEqual({ 200: outcomes.length });
    expect(figuresOf(outcomes).maxMs).toBeLessThan(LEFT_WITHIN_MS);
    const lateAsks = began.filter((at) => at > endedAt + LEFT_WITHIN_MS).length;
    expect(lateAsks).toBeGreaterThan(100);
    expect(counts['replica']).toBe(0);
    await again();
    const backAt = performance.now();
    await isTaken();
    console.info(name, 'taken again after', Math.round(performance.now() - backAt), 'ms');
  });

  it('is left while it is later than allowed', async () => {
    await replica.run('select pg_wal_replay_pause()');
    const { status } = await service.client().post('/revenue-events', revenue('after the pause'));
    expect(status).toBe(201);
    await sleep(3_000);
    const counts = await readsDuring(async () => {
      const { body } = await service.client().get('/revenue-events?limit=1');
      expect(body.items[0].externalId).toBe('after the pause');
    });
    expect(counts).toEqual({ replica: 0, behind: 0, late: 1, down: 0 });
    await replica.run('select pg_wal_replay_resume()');
    await isTaken();
  });

  it('is asked less and less while it answers looks, and reads of a table not at all', async () => {
    const process = await service.start({ DATABASE_READ_LAG_SECONDS: '3600' });
    const client = () => new Client(process.url, service.token);
    await eventually(async () => {
      await client().get('/kpi');
      return (await readsOf(process))['replica']! > 0;
    });
    const locker = await database.owner.connect();
    await locker.query('begin');
    await locker.query('lock table revenue_events in access exclusive mode');
    await locker.query('select pg_switch_wal()');
    await eventually(async () => {
      const { rows } = await replica.run(
        `select from pg_locks where mode = 'AccessExclusiveLock' and relation is not null`,
        'consigliere',
      );
      return rows.length > 0;
    });
    await replica.run('select pg_wal_replay_pause()');
    await locker.query('commit');
    locker.release();
    const load = new SteadyLoad(20, async () => {
      const { status } = await client().get('/revenue-events');
      return { status, retryAfter: undefined };
    });
    await sleep(20_000);
    const outcomes = await load.stop();
    await replica.run('select pg_wal_replay_resume()');
    await process.stop();
    const slow = outcomes.filter(({ tookMs }) => tookMs > 500).length;
    console.info('locked', JSON.stringify({ ...figuresOf(outcomes), slow }));
    expect(figuresOf(outcomes).statuses).toEqual({ 200: outcomes.length });
    expect(slow / outcomes.length).toBeLessThan(0.5);
    expect(figuresOf(outcomes).maxMs).toBeLessThan(LEFT_WITHIN_MS);
  });

  it('costs a change no round trip, and a read none more', async () => {
    const without = await service.start({ DATABASE_READ_URL: '' });
    const trips = async (process: ServiceProcess) => {
      const client = new Client(process.url, service.token);
      await client.post('/revenue-events', revenue(`warm ${process.pid}`));
      await sleep(1_000);
      await client.post('/revenue-events', revenue(`trips ${process.pid}`));
      await client.get('/revenue-events', { 'X-Service-Position': '' });
      const requests = () => process.logs.filter(({ msg }) => msg === 'request').slice(-2);
      await eventually(async () => requests().at(-1)?.['method'] === 'GET');
      return requests().map(({ method, roundTrips }) => [method, roundTrips]);
    };
    expect(await trips(service.processes[0]!)).toEqual(await trips(without));
    await without.stop();
  });

  it('shows nobody what is of another workspace or team, and lets no revoked token in', async () => {
    await replica.run('select pg_wal_replay_resume()');
    const other = await service.createWorkspace('enterprise');
    const stranger = new Client(service.processes[0]!.url, other.token);
    await service.client().post('/revenue-events', revenue('ours'));
    await sleep(1_000);
    const counts = await readsDuring(async () => {
      const { body } = await stranger.get('/revenue-events');
      expect(body.items).toEqual([]);
    });
    expect(counts['replica']).toBe(1);
    await replica.run('select pg_wal_replay_pause()');
    await service.rows('update tokens set revoked_at = now() where workspace_id = $1', [other.workspaceId]);
    await sleep(1_000);
    expect((await stranger.get('/revenue-events')).status).toBe(401);
    await replica.run('select pg_wal_replay_resume()');
    await isTaken();
  });
});

describe.skipIf(!found)('a replica that has not followed a failover', { timeout: 120_000 }, () => {
  it('answers nothing, although it has come further on the old timeline', async () => {
    const database = await startMachineDatabase(programs!);
    const promoted = await startReplica(programs!, database.server);
    const left = await startReplica(programs!, database.server);
    const service = await startService(1, {}, database);
    try {
      await promoted.crash();
      await service.client().post('/revenue-events', revenue('lost'));
      await database.server.run('select pg_switch_wal()');
      const { rows } = await database.server.run('select pg_current_wal_lsn() as lsn');
      await eventually(async () => {
        const seen = await left.run(`select pg_last_wal_replay_lsn() >= '${rows[0].lsn}' as there`);
        return seen.rows[0].there as boolean;
      });
      await database.server.crash();
      await promoted.start();
      await promoted.run('select pg_promote()');

      const at = (server: MachineServer) =>
        Object.assign(new URL(database.url), { port: String(server.port) }).href;
      const process = await service.start({ DATABASE_URL: at(promoted), DATABASE_READ_URL: at(left) });
      const client = new Consigliere({ token: service.token, baseUrl: process.url });
      for (let n = 0; n < 10; n++) {
        await client.request('POST', '/api/pro/revenue-events', { body: revenue(`new ${n}`) });
        await sleep(n * 50);
        const { items } = await client.request<any>('GET', '/api/pro/revenue-events?limit=1');
        expect(items[0].externalId).toBe(`new ${n}`);
      }
      expect(await readsOf(process)).toMatchObject({ replica: 0 });
      expect(process.logs.map(({ msg }) => msg)).toContain('reads go to the primary: the replica is late');
    } finally {
      await service.close();
      await promoted.stop();
      await left.stop();
    }
  });
});
