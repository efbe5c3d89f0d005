import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  expectHealthyUnharmed,
  expectLateResultDiscarded,
  expectNoHarmOfKills,
  expectNoHarmOfRestarts,
  expectNothingHalf,
  expectSeamless,
} from '../e2e/webhooks/faults/bars.js';
import { restartDatabase } from '../e2e/webhooks/faults/database-restarts.js';
import {
  type Hostile,
  sendToHostileReceivers,
  startHostileReceivers,
} from '../e2e/webhooks/faults/hostile-receivers.js';
import { killApi } from '../e2e/webhooks/faults/killed-api.js';
import { killWorkers } from '../e2e/webhooks/faults/killed-workers.js';
import { restartInTurn } from '../e2e/webhooks/faults/rolling-restart.js';
import { type Stage, startStage } from '../e2e/webhooks/faults/stage.js';
import { stopWorker } from '../e2e/webhooks/faults/stopped-worker.js';
import { closeReceivers } from '../platform/receivers.js';
import { startOwnPostgres } from '../support/own-postgres.js';

/** Prints the figures of docs/reliability.md, also of a run that misses a bar. */
function told<T>(what: string, result: T): T {
  console.info(what, JSON.stringify(result, null, 2));
  return result;
}

describe('events', { timeout: 30 * 60_000 }, () => {
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

  it('all arrive, and hardly one twice, when workers are killed 100 times over 100,000 of them', async () => {
    const result = await killWorkers(stage, { kills: 100, events: 100_000, rate: 200 });
    expectNoHarmOfKills(told('killed workers', result), 0.001);
    // The kills did come while something was being sent.
    expect(result.held).toBeGreaterThan(0);
  });

  it('arrive once when the workers are restarted in turn, five times', async () => {
    expectSeamless(told('rolling restart', await restartInTurn(stage, 5)));
  });

  it.each([8_000, 30_000])('of a worker that is stopped for %i ms are delivered by another', async (ms) => {
    expectLateResultDiscarded(told('stopped worker', await stopWorker(stage, ms)));
  });

  it('get to a healthy receiver without delay beside hostile ones', async () => {
    const result = await sendToHostileReceivers(stage, hostile, { events: 600, rate: 20 });
    expectHealthyUnharmed(told('hostile receivers', result));
  });

  it('arrive for every act that was committed, and for no other, when the api is killed 50 times', async () => {
    expectNothingHalf(told('killed api', await killApi(stage, { posts: 10_000, kills: 50 })));
  });

  it('all arrive when the database ends at once, 21 times, and stays away for a minute', async () => {
    const postgres = await startOwnPostgres();
    const own = await startStage({ database: postgres.database });
    try {
      const result = await restartDatabase(own, postgres, { restarts: 20, downMs: 60_000 });
      expectNoHarmOfRestarts(told('database restarts', result));
    } finally {
      await own.close();
    }
  });
});
