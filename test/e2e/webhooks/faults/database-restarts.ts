import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnPostgres } from '../../../support/own-postgres.js';
import { eventually } from '../../../support/test-app.js';
import { Acts } from './acts.js';
import { accountPosts, type Post, type PostAccount, postRevenue } from './posts.js';
import { account, type Account, type Stage } from './stage.js';

const CLIENTS = 4;
/** Load between two restarts. */
const BETWEEN_MS = 1_000;
/** The sweep looks each second, so a notice that is not heard would cost half a second as a rule. */
const NOTICED = 15;
const NOTICED_APART_MS = 170;

export interface DatabaseRestarts extends Account, PostAccount {
  restarts: number;
  /** From the server's first answer to the first request that succeeds again, in milliseconds. */
  longestRecoveryMs: number;
  /** Answers while the server was down: status and Retry-After. */
  whileDown: string[];
  /** From the COMMIT to the arrival, after the last restart: the median, in milliseconds. */
  noticedMs: number;
  /** What the processes wrote to stderr, and that they ended on their own. */
  complaints: string[];
}

/** Ends the server at once and starts it again, under load; the last time it stays down for `downMs`. */
export async function restartDatabase(
  stage: Stage,
  postgres: OwnPostgres,
  { restarts, downMs }: { restarts: number; downMs: number },
): Promise<DatabaseRestarts> {
  const place = stage.receiver.place();
  const tenant = await stage.tenant(place);
  const posts: Post[] = [];
  let over = false;
  const load = Array.from({ length: CLIENTS }, async () => {
    while (!over) {
      posts.push(await postRevenue(stage.api, tenant));
      await sleep(20);
    }
  });
  let longestRecoveryMs = 0;
  const comeBack = async () => {
    await postgres.start();
    const began = performance.now();
    const since = posts.length;
    await eventually(async () => posts.slice(since).some(({ status }) => status === 201), Boolean, 20);
    longestRecoveryMs = Math.max(longestRecoveryMs, performance.now() - began);
  };
  for (let restart = 0; restart < restarts; restart++) {
    await sleep(BETWEEN_MS);
    await postgres.crash();
    await comeBack();
  }
  await sleep(BETWEEN_MS);
  await postgres.crash();
  const from = posts.length + CLIENTS; // what was in flight when it went down may end otherwise
  await sleep(downMs);
  const down = posts.slice(from);
  await comeBack();
  await sleep(BETWEEN_MS);
  over = true;
  await Promise.all(load);
  const accounts = { ...(await account(stage, [tenant])), ...(await accountPosts(stage, tenant, posts)) };
  return {
    ...accounts,
    restarts: restarts + 1,
    longestRecoveryMs,
    whileDown: [...new Set(down.map(({ status, retryAfter }) => `${status} ${retryAfter}`))],
    noticedMs: await notice(stage, tenant.workspaceId, place.arrivals),
    complaints: [stage.api, ...stage.workers].flatMap(({ exited, errors }) => [
      ...(exited ? ['ended'] : []),
      ...(errors ? [errors] : []),
    ]),
  };
}

/** Causes events while nothing else happens; the median of their way, in milliseconds. */
async function notice(stage: Stage, workspaceId: string, arrivals: Map<string, number[]>): Promise<number> {
  const acts = await Acts.open(stage.service.database.url);
  const waits: number[] = [];
  for (let index = 0; index < NOTICED; index++) {
    const { eventId, at } = await acts.recordRevenue(workspaceId);
    await eventually(async () => arrivals.has(eventId), Boolean, 5);
    waits.push(arrivals.get(eventId)![0]! - at);
    await sleep(NOTICED_APART_MS);
  }
  await acts.close();
  return waits.toSorted((one, two) => one - two)[NOTICED >> 1]!;
}
