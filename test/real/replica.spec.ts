import { setTimeout as sleep } from 'node:timers/promises';
import { Consigliere } from '@consigliere/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MachineServer, machinePostgres, startReplica } from '../support/machine-postgres.js';
import { type Service, startService } from '../support/processes.js';
import { allFound } from '../support/programs.js';
import { eventually } from '../support/test-app.js';
import { type MachineDatabase, startMachineDatabase } from './machine-database.js';

const programs = machinePostgres();
const found = allFound('a streaming replica', { PostgreSQL: programs });

const DELAY_MS = 200;

describe.skipIf(!found)('a replica 200 ms late', { timeout: 300_000 }, () => {
  let database: MachineDatabase;
  let replica: MachineServer;
  let service: Service;
  beforeAll(async () => {
    database = await startMachineDatabase(programs!);
    replica = await startReplica(programs!, database.server, { delayMs: DELAY_MS });
    service = await startService(1, { DATABASE_READ_URL: `${replica.url}/consigliere` }, database);
    await eventually(async () => (await reads()).replica, undefined, 10).catch(() => undefined);
  }, 120_000);
  afterAll(async () => {
    await service?.close();
    await replica?.stop();
  });

  /** How many reads who has answered, as Prometheus hears it. */
  async function reads(): Promise<Record<string, number>> {
    const text = await (await fetch(`${service.processes[0]!.url}/metrics`)).text();
    const lines = [...text.matchAll(/^consigliere_replica_reads_total\{outcome="(\w+)"\} (\d+)$/gm)];
    return Object.fromEntries(lines.map(([, outcome, count]) => [outcome, Number(count)]));
  }

  it('answers', async () => {
    const client = service.client();
    const posted = await client.post('/revenue-events', { amount: 1, currency: 'EUR', source: 'test', externalId: 'a' });
    console.log(posted.status, Object.fromEntries(posted.headers));
    await sleep(1500);
    const read = await client.get('/revenue-events');
    console.log(read.status, read.body, await reads());
    console.log(service.processes[0]!.logs.filter(({msg}) => msg !== 'request').slice(-6), replica.url);
    const sdk = new Consigliere({ token: service.token, baseUrl: service.processes[0]!.url });
  });
});
