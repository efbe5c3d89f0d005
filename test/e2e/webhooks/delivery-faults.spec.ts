import { afterAll, beforeAll, it } from 'vitest';
import { closeReceivers } from '../../platform/receivers.js';
import { startOwnPostgres } from '../../support/own-postgres.js';
import { restartDatabase } from './faults/database-restarts.js';
import { type Hostile, sendToHostileReceivers, startHostileReceivers } from './faults/hostile-receivers.js';
import { killApi } from './faults/killed-api.js';
import { killWorkers } from './faults/killed-workers.js';
import { restartInTurn } from './faults/rolling-restart.js';
import { type Stage, startStage } from './faults/stage.js';
import { stopWorker } from './faults/stopped-worker.js';

let stage: Stage;
let hostile: Hostile[];
beforeAll(async () => {
  hostile = await startHostileReceivers();
  stage = await startStage({ allow: hostile.map(({ port }) => `127.0.0.1:${port}`) });
}, 90_000);
afterAll(async () => {
  await stage.close();
  await closeReceivers();
});

it('t5', { timeout: 120_000 }, async () => {
  console.log(await restartInTurn(stage, 2));
  console.log(stage.service.processes.map((p) => p.errors));
  console.log(
    JSON.stringify(
      stage.service.processes
        .flatMap((p) => p.logs)
        .map((l: any) => [l.level, l.msg, l.err?.message])
        .slice(0, 60),
    ),
  );
});
it('t3', { timeout: 120_000 }, async () => {
  console.dir(await stopWorker(stage, 8000), { depth: 9 });
});
it('t4', { timeout: 120_000 }, async () => {
  console.log(await sendToHostileReceivers(stage, hostile, { events: 100, rate: 20 }));
});
it('t6', { timeout: 120_000 }, async () => {
  console.log(await killApi(stage, { posts: 200, kills: 4 }));
});
it('t2', { timeout: 120_000 }, async () => {
  const postgres = await startOwnPostgres();
  const own = await startStage({ database: postgres.database });
  console.log(await restartDatabase(own, postgres, { restarts: 2, downMs: 3000 }).catch((e) => e));
  console.log(own.service.processes.map((p) => p.errors));
  console.log(
    JSON.stringify(
      own.service.processes
        .flatMap((p) => p.logs)
        .map((l: any) => [l.level, l.msg, l.err?.message])
        .slice(0, 60),
    ),
  );
  await own.close();
});
it('t1', { timeout: 120_000 }, async () => {
  console.log(await killWorkers(stage, { kills: 5, events: 3000, rate: 300 }));
});
