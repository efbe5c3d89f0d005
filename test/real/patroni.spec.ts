import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { machinePostgres } from '../support/machine-postgres.js';
import { allFound, programPath } from '../support/programs.js';
import { eventually } from '../support/test-app.js';
import { type DatabaseBalancer, startDatabaseBalancer } from './database-balancer.js';
import { prepareDatabase } from './machine-database.js';
import { PATRONI, type PatroniNode, startPatroni } from './patroni.js';
import { readsOf, ReplicatedService, untilAnswered } from './replicated-service.js';
import { figuresOf, type Outcome } from './steady-load.js';

const programs = machinePostgres();
const found = allFound('Patroni', { PostgreSQL: programs, haproxy: programPath('haproxy'), ...PATRONI });

const HAND_INS = { perSecond: 50, actEvery: 1 };

describe.skipIf(!found)(
  'two api and two workers over two servers under Patroni',
  { timeout: 300_000 },
  () => {
    let balancer: DatabaseBalancer;
    let replicated: ReplicatedService;
    let one: PatroniNode;
    let two: PatroniNode;

    beforeAll(async () => {
      const patroni = await startPatroni(programs!);
      [one, two] = patroni.nodes;
      balancer = await startDatabaseBalancer(patroni.nodes);
      const database = await prepareDatabase(patroni.url(balancer.ports.primary), () => patroni.stop());
      replicated = await ReplicatedService.start(database, balancer.ports.replica);
    }, 120_000);
    afterAll(async () => {
      await replicated?.close();
      await balancer?.stop();
    });

    // In this order: the primary is `one`, `two`, and `one` again.
    it.each([
      ['killed', () => one.crash(), () => two, () => one.start()],
      ['switchover', () => two.switchOver(), () => one, async () => undefined],
      ['hung-replica', async () => two.signal('SIGSTOP'), () => one, async () => two.signal('SIGCONT')],
    ])('lose no answered act and do none twice: %s', async (name, change, primary, goBack) => {
      const tries: Outcome[] = [];
      const acts = replicated.startLoad(name, HAND_INS, (ask) => untilAnswered(ask, tries));
      await sleep(3_000);
      const began = performance.now();
      const since = () => Math.round(performance.now() - began);
      await change();
      await eventually(() => primary().is('primary'), Boolean, 60);
      const promotedMs = since();
      const before = acts.accepted.size;
      await eventually(async () => acts.accepted.size > before + 10, Boolean, 60);
      const answeredMs = since();
      await sleep(5_000);
      const outcomes = figuresOf(await acts.load.stop());
      console.info(name, JSON.stringify({ promotedMs, answeredMs, tries: figuresOf(tries), acts: outcomes }));
      await replicated.expectOnce(acts);

      await goBack();
      const replica = primary() === one ? two : one;
      await eventually(() => replica.is('sync'), Boolean, 60);
      const [api] = replicated.service.processes;
      const { replica: reads } = await readsOf(api!);
      const readsThere = async () => {
        await replicated.service.client(api).get('/kpi');
        return (await readsOf(api!))['replica']!;
      };
      expect(await eventually(readsThere, (count) => count > reads!, 20)).toBeGreaterThan(reads!);
    });
  },
);
