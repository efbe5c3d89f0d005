import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { ServiceProcess } from '../../../support/processes.js';
import { eventually } from '../../../support/test-app.js';
import { Acts } from './acts.js';
import { account, type Account, type Stage, type Tenant } from './stage.js';

const WRITERS = 8;
const LATEST_KILL_MS = 250;
/** The writers wait while so many deliveries have not come. */
const BEHIND_AT_MOST = 1_000;
interface Held {
  delivery_id: string;
  event_id: string;
  url: string;
  claims: number;
}

export interface KilledWorkers extends Account {
  kills: number;
  /** What the killed workers were sending. */
  held: number;
  /** Of these, what the next to claim it was killed with as well. */
  heldAgain: number;
  /** Of what came twice, what the receiver read only when its sender was dead: it had come before, for the system. */
  readLate: number;
  /** From a kill until what it held came for the last time, in milliseconds; divided by the kills if there were more. */
  recovery: { median: number; longest: number };
  seconds: number;
}

/**
 * Kills one of two workers, the older one, again and again while they send; a new one is started each time. The kills
 * are spread evenly over the events, of which up to `rate` are caused a second.
 */
export async function killWorkers(
  stage: Stage,
  { kills, events, rate }: { kills: number; events: number; rate: number },
): Promise<KilledWorkers> {
  const { service, receiver } = stage;
  const place = () => receiver.place();
  // Five chains, six destinations: one workspace sends each event to two.
  const tenants = [await stage.tenant(place(), place())];
  for (let more = 0; more < 4; more++) tenants.push(await stage.tenant(place()));
  const workspaces = tenants.map(({ workspaceId }) => workspaceId);
  const began = performance.now();
  const before = receiver.total;
  const arrived = () => receiver.total - before;
  const done = { kills: 0 };
  const writing = write(stage, tenants, { events, rate }, () => ({
    arrived: arrived(),
    // Something is left to be sent at each kill.
    upTo: ((done.kills + 1.5) * events) / kills,
  }));
  const kept: { at: number; held: Held[] }[] = [];
  const seen = new Set<string>();
  while (done.kills < kills) {
    const next = ((done.kills + 0.5) * events) / kills;
    await eventually(
      async () => arrived(),
      (count) => count >= next,
      60,
    );
    const [victim, other] = stage.workers;
    const at = await killFromElsewhere(victim, randomInt(LATEST_KILL_MS));
    const held = await service.rows<Held>(
      `select w.delivery_id, w.event_id, d.url, c.claims
       from work_items i join counting.claims c on c.delivery_id = i.id join webhook_deliveries w on w.delivery_id = i.id
         join webhook_destinations d using (destination_id)
       where i.kind = 'webhook.deliver' and i.claimed and i.workspace_id = any($1)`,
      [workspaces],
    );
    // What an earlier kill left behind may still wait for the end of its lease.
    kept.push({ at, held: held.filter(({ delivery_id }) => !seen.has(delivery_id)) });
    for (const { delivery_id } of held) seen.add(delivery_id);
    done.kills++;
    stage.workers = [other, await stage.startWorker()];
  }
  await writing;
  const result = await account(stage, tenants);
  const seconds = (performance.now() - began) / 1000;
  const claims = new Map(
    (
      await service.rows<{ delivery_id: string; claims: number }>(
        'select delivery_id, claims from counting.claims where claims > 1',
      )
    ).map((row) => [row.delivery_id, row.claims]),
  );
  const places = new Map(tenants.flatMap((tenant) => tenant.places).map((one) => [one.url, one.arrivals]));
  const orphans = kept.flatMap(({ at, held }) =>
    held
      .map((one) => ({ ...one, at, losses: (claims.get(one.delivery_id) ?? 1) - one.claims }))
      // The rest was the other worker's, which completed it.
      .filter(({ losses }) => losses > 0),
  );
  const waits = orphans.map(
    ({ at, url, event_id, losses }) => (places.get(url)!.get(event_id)!.at(-1)! - at) / losses,
  );
  const readLate = orphans.filter(({ at, url, event_id }) => {
    const times = places.get(url)!.get(event_id)!;
    return times.length > 1 && times[0]! > at;
  }).length;
  waits.sort((one, two) => one - two);
  return {
    ...result,
    kills,
    held: orphans.length,
    heldAgain: orphans.filter(({ losses }) => losses > 1).length,
    readLate,
    recovery: { median: waits[waits.length >> 1] ?? 0, longest: waits.at(-1) ?? 0 },
    seconds,
  };
}

/**
 * Kills from a thread of its own. This one is the receiver as well: when it comes to a kill it has been busy with other
 * things, so more requests than usual wait for it to read them, and each of those would be sent twice. Answers when the
 * kill was, in milliseconds of `performance.now()`.
 */
async function killFromElsewhere(victim: ServiceProcess, afterMs: number): Promise<number> {
  const script = `setTimeout(() => {
    const at = performance.timeOrigin + performance.now();
    process.kill(${victim.pid}, 'SIGKILL');
    require('node:worker_threads').parentPort.postMessage(at);
  }, ${afterMs})`;
  const [at] = (await once(new Worker(script, { eval: true }), 'message')) as [number];
  await victim.kill();
  return at - performance.timeOrigin;
}

async function write(
  { service }: Stage,
  tenants: Tenant[],
  { events, rate }: { events: number; rate: number },
  progress: () => { arrived: number; upTo: number },
): Promise<void> {
  const acts = await Acts.open(service.database.url);
  const began = performance.now();
  let written = 0;
  const writer = async () => {
    while (written < events) {
      const index = written++;
      const due = began + (index / rate) * 1000;
      await sleep(Math.max(0, due - performance.now()));
      const mayWrite = () => {
        const { arrived, upTo } = progress();
        return index < upTo && index < arrived + BEHIND_AT_MOST;
      };
      while (!mayWrite()) await sleep(10);
      await acts.recordRevenue(tenants[index % tenants.length]!.workspaceId);
    }
  };
  try {
    await Promise.all(Array.from({ length: WRITERS }, writer));
  } finally {
    await acts.close();
  }
}
