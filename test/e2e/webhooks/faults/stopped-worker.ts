import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../support/test-app.js';
import { Acts } from './acts.js';
import type { Stage } from './stage.js';

const DELIVERIES = 6;
/** An exchange ends after ten seconds; a second attempt cannot be kept open for longer. */
const EXCHANGE_MS = 10_000;

/** How a delivery ended that a stopped worker had in flight. */
interface Rescued {
  status: string;
  claims: number;
  /** Of each attempt that counted: its number and the answer to it. */
  attempts: { n: number; status: number | null; error: string | null }[];
  requests: number;
}

export interface StoppedWorker {
  rescued: Rescued[];
  /** From SIGSTOP to the last request of the other worker, in milliseconds. */
  takenOverMs: number;
  /** That the continued worker delivers again, alone. */
  sendsAgain: boolean;
}

/**
 * SIGSTOPs the worker that has deliveries in flight. Each is answered 500 meanwhile, which it reads when it is
 * continued, after the other worker has claimed the deliveries; half of the other's attempts are then still open,
 * if it is continued soon enough, so that the late result meets a row that is being sent just like its own.
 */
export async function stopWorker(stage: Stage, stoppedMs: number): Promise<StoppedWorker> {
  const { service, receiver } = stage;
  const [stopped, other] = stage.workers;
  const first: ServerResponse[] = [];
  const open: ServerResponse[] = [];
  let last = 0;
  const keepOpen = stoppedMs < EXCHANGE_MS;
  const place = receiver.place((response, _eventId, nth) => {
    if (nth === 1 && !released) return void first.push(response);
    if (nth === 2) last = performance.now();
    if (keepOpen && open.length < DELIVERIES / 2) open.push(response);
    else response.end();
  });
  let released = false;
  const tenant = await stage.tenant(place);
  const acts = await Acts.open(service.database.url);
  // The other one is stopped for a moment, so that it is known who claims the deliveries.
  other.signal('SIGSTOP');
  await Promise.all(Array.from({ length: DELIVERIES }, () => acts.recordRevenue(tenant.workspaceId)));
  await eventually(
    async () => first.length,
    (count) => count === DELIVERIES,
  );
  stopped.signal('SIGSTOP');
  const stoppedAt = performance.now();
  other.signal('SIGCONT');
  for (const response of first) response.writeHead(500).end();
  await sleep(stoppedMs);
  stopped.signal('SIGCONT');
  // Time for it to read the answers, and to write down what it makes of them.
  await sleep(1_000);
  for (const response of open) response.end();
  const rows = await eventually(
    () =>
      service.rows<Omit<Rescued, 'requests'> & { event_id: string }>(
        `select event_id, status, claims, attempts
         from webhook_deliveries join counting.claims using (delivery_id) where workspace_id = $1`,
        [tenant.workspaceId],
      ),
    (all) => all.every(({ status }) => status === 'delivered'),
  );
  const rescued = rows.map(({ event_id, status, claims, attempts }) => ({
    status,
    claims,
    attempts: attempts.map(({ n, status: code, error }) => ({ n, status: code, error })),
    requests: place.arrivals.get(event_id)!.length,
  }));
  released = true;
  other.signal('SIGSTOP');
  const again = await acts.recordRevenue(tenant.workspaceId);
  const sendsAgain = await eventually(async () => place.arrivals.has(again.eventId), Boolean, 5).catch(
    () => false,
  );
  other.signal('SIGCONT');
  await acts.close();
  return { rescued, takenOverMs: last - stoppedAt, sendsAgain };
}
