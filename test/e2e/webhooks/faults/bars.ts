import { expect } from 'vitest';
import type { DatabaseRestarts } from './database-restarts.js';
import { HOSTILE, type HostileReceivers } from './hostile-receivers.js';
import type { KilledApi } from './killed-api.js';
import type { KilledWorkers } from './killed-workers.js';
import type { PostAccount } from './posts.js';
import type { RollingRestart } from './rolling-restart.js';
import type { Account } from './stage.js';
import type { StoppedWorker } from './stopped-worker.js';

/** Half a second of a busy machine on top of what is promised of an exchange. */
const LONGEST_EXCHANGE_MS = 10_500;
const RECOVERED_WITHIN_MS = 8_000;

/** At least once, at every destination that wants it; and nothing that did not happen. */
function expectAllDelivered(account: Account): void {
  expect(account).toMatchObject({ lost: 0, unknown: 0, unsettled: 0 });
}

function expectOneEventEach(account: PostAccount): void {
  expect(account).toMatchObject({ missing: 0, unequal: 0 });
}

/** @param share of the deliveries that may come twice */
export function expectNoHarmOfKills(result: KilledWorkers, share: number): void {
  expectAllDelivered(result);
  expect(result.twice).toBeLessThanOrEqual(result.deliveries * share);
  expect(result.recovery.longest).toBeLessThan(RECOVERED_WITHIN_MS);
}

export function expectNoHarmOfRestarts(result: DatabaseRestarts): void {
  expectAllDelivered(result);
  expectOneEventEach(result);
  expect(Object.keys(result.answers).toSorted()).toEqual(['201', '503']);
  expect(result.whileDown).toEqual(['503 1']);
  expect(result.longestRecoveryMs).toBeLessThan(5_000);
  // Without a message it would wait for the sweep, half a second as a rule.
  expect(result.noticedMs).toBeLessThan(250);
  expect(result.complaints).toEqual([]);
}

export function expectLateResultDiscarded({ rescued, takenOverMs, sendsAgain }: StoppedWorker): void {
  for (const delivery of rescued) {
    expect(delivery).toEqual({
      status: 'delivered',
      claims: 2,
      attempts: [{ n: 1, status: 200, error: null }],
      requests: 2,
    });
  }
  expect(takenOverMs).toBeLessThan(RECOVERED_WITHIN_MS);
  expect(sendsAgain).toBe(true);
}

export function expectHealthyUnharmed(result: HostileReceivers): void {
  expect(result).toMatchObject({ lost: 0, twice: 0 });
  // One destination held up by another would wait for ten seconds; a busy machine is slow for all.
  expect(result.besideHostile.p99).toBeLessThan(Math.max(1_000, 3 * result.besideHealthy.p99));
  for (const [name, { outcome }] of Object.entries(HOSTILE)) {
    expect(Object.keys(result.outcomes[name]!), name).toEqual([outcome]);
  }
  expect(Math.max(result.longest.recorded, result.longest.seen)).toBeLessThan(LONGEST_EXCHANGE_MS);
  expect(result.memory.most - result.memory.before).toBeLessThan(150);
}

export function expectSeamless(result: RollingRestart): void {
  expectAllDelivered(result);
  expect(result.twice).toBe(0);
  expect(new Set(result.exitCodes)).toEqual(new Set([0]));
}

export function expectNothingHalf(result: KilledApi): void {
  expectAllDelivered(result);
  expectOneEventEach(result);
  expect(result.twice).toBe(0);
  expect(Object.keys(result.answers).toSorted()).toEqual(['201', 'none']);
}
