import { setTimeout as sleep } from 'node:timers/promises';
import { Acts } from './acts.js';
import { account, type Account, type Stage } from './stage.js';

const RATE = 200;
/** Each worker sends for so long before it is told to end. */
const BETWEEN_MS = 600;

export interface RollingRestart extends Account {
  restarts: number;
  exitCodes: (number | null)[];
}

/** Replaces both workers, one after the other, `rounds` times under load: SIGTERM, and a new one as it ends. */
export async function restartInTurn(stage: Stage, rounds: number): Promise<RollingRestart> {
  const { service, receiver } = stage;
  // Slow enough to be in flight when the signal comes.
  const place = () => receiver.place((response) => setTimeout(() => response.end(), 20));
  const tenants = [await stage.tenant(place(), place()), await stage.tenant(place())];
  const acts = await Acts.open(service.database.url);
  let over = false;
  const load = (async () => {
    const began = performance.now();
    for (let index = 0; !over; index++) {
      await sleep(Math.max(0, began + (index * 1000) / RATE - performance.now()));
      await acts.recordRevenue(tenants[index % tenants.length]!.workspaceId);
    }
  })();
  const exitCodes: (number | null)[] = [];
  for (let restart = 0; restart < 2 * rounds; restart++) {
    await sleep(BETWEEN_MS);
    const [old, other] = stage.workers;
    const successor = stage.startWorker();
    exitCodes.push(await old.stop());
    stage.workers = [other, await successor];
  }
  over = true;
  await load;
  await acts.close();
  return { ...(await account(stage, tenants)), restarts: exitCodes.length, exitCodes };
}
