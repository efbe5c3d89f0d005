import { afterAll, beforeAll, describe, it } from 'vitest';
import { closeReceivers } from '../../platform/receivers.js';
import { startOwnPostgres } from '../../support/own-postgres.js';
import { expectHealthyUnharmed, expectNoHarmOfRestarts } from './faults/bars.js';
import { restartDatabase } from './faults/database-restarts.js';
import { type Hostile, sendToHostileReceivers, startHostileReceivers } from './faults/hostile-receivers.js';
import { type Stage, startStage } from './faults/stage.js';

/** The same at full size: test/faults/webhook-delivery.spec.ts. */
describe('hostile receivers', () => {
  let hostile: Hostile[];
  let stage: Stage;
  beforeAll(async () => {
    hostile = await startHostileReceivers();
    stage = await startStage({ allow: hostile.map(({ port }) => `127.0.0.1:${port}`) });
  }, 90_000);
  afterAll(async () => {
    await stage.close();
    await closeReceivers();
  });

  it('delay nobody else, and get bounded time and memory', { timeout: 120_000 }, async () => {
    expectHealthyUnharmed(await sendToHostileReceivers(stage, hostile, { events: 80, rate: 20 }));
  });
});

describe('a database that ends at once and starts again', () => {
  it('costs no event, and no process', { timeout: 120_000 }, async () => {
    const postgres = await startOwnPostgres();
    const stage = await startStage({ database: postgres.database });
    try {
      expectNoHarmOfRestarts(await restartDatabase(stage, postgres, { restarts: 2, downMs: 3_000 }));
    } finally {
      await stage.close();
    }
  });
});
