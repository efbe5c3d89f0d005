import { afterAll, beforeAll, describe, it } from 'vitest';
import {
  expectLateResultDiscarded,
  expectNoHarmOfKills,
  expectNothingHalf,
  expectSeamless,
} from './faults/bars.js';
import { killApi } from './faults/killed-api.js';
import { killWorkers } from './faults/killed-workers.js';
import { restartInTurn } from './faults/rolling-restart.js';
import { type Stage, startStage } from './faults/stage.js';
import { stopWorker } from './faults/stopped-worker.js';

/** The same at full size: test/faults/webhook-delivery.spec.ts. */
let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
}, 90_000);
afterAll(() => stage.close());

describe('events', { timeout: 120_000 }, () => {
  it('all arrive when workers are killed while they send', async () => {
    // So few events show that it is rare, not how rare.
    expectNoHarmOfKills(await killWorkers(stage, { kills: 5, events: 3_000, rate: 200 }), 0.01);
  });

  it('arrive once when the workers are restarted in turn', async () => {
    expectSeamless(await restartInTurn(stage, 1));
  });

  it('of a worker that is stopped for longer than its lease are delivered by another', async () => {
    expectLateResultDiscarded(await stopWorker(stage, 8_000));
  });

  it('arrive for every act that was committed, and for no other, when the api is killed', async () => {
    expectNothingHalf(await killApi(stage, { posts: 200, kills: 2 }));
  });
});
