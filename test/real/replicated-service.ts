import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { freePort } from '../support/machine-postgres.js';
import { type Service, type ServiceProcess, startService } from '../support/processes.js';
import type { TestDatabase } from '../support/test-database.js';
import { ProxiedClient, type Reply } from './proxied-client.js';
import { type Proxy, startProxy } from './proxies.js';
import { type Outcome, SteadyLoad } from './steady-load.js';

/** For a balancer to learn that a process is back. */
export const BACK_MS = 3_000;
const GIVES_UP_MS = 60_000;

/** What was sent and answered so far: by text, the id of each act that was answered. */
export interface ActLoad {
  load: SteadyLoad;
  accepted: ReadonlyMap<string, string>;
  sent: readonly string[];
}

/** Two api processes behind HAProxy, and two workers, over a primary and a replica behind another. */
export class ReplicatedService {
  readonly #clients: ProxiedClient[] = [];

  private constructor(
    readonly service: Service,
    private readonly ports: number[],
    private readonly proxy: Proxy,
  ) {}

  /** @param replicaPort where a replica answers, whichever it is */
  static async start(
    database: TestDatabase,
    replicaPort: number,
    environment: Record<string, string> = {},
  ): Promise<ReplicatedService> {
    const ports = [await freePort(), await freePort()];
    const readUrl = Object.assign(new URL(database.url), { port: String(replicaPort) }).href;
    const service = await startService(
      1,
      {
        PROCESS_ROLE: 'api',
        PORT: String(ports[0]),
        DRAIN_SECONDS: '5',
        DATABASE_READ_URL: readUrl,
        ...environment,
      },
      database,
    );
    const started = new ReplicatedService(service, ports, await startProxy('haproxy', ports));
    for (const index of [1, 2, 3]) await started.startAgain(index);
    await sleep(BACK_MS);
    return started;
  }

  /** The first two answer requests behind the balancer, the others work. */
  startAgain(index: number) {
    return this.service.start(
      index < 2 ? { PORT: String(this.ports[index]) } : { PROCESS_ROLE: 'worker', PORT: '0' },
    );
  }

  /** Callers with addresses of their own, so that none reaches a limit. */
  callers(count: number): ProxiedClient[] {
    return Array.from({ length: count }, () => {
      const at = this.#clients.length + 1;
      const address = `127.2.${Math.floor(at / 250)}.${(at % 250) + 1}`;
      const one = new ProxiedClient(this.proxy, this.service.token, address);
      this.#clients.push(one);
      return one;
    });
  }

  /** So many requests a second: of each `actEvery`, one hands in and the others list. `send` is how one request is sent. */
  startLoad(
    name: string,
    { perSecond, actEvery }: { perSecond: number; actEvery: number },
    send: (ask: () => Promise<Reply>) => Promise<Reply>,
  ): ActLoad {
    const accepted = new Map<string, string>();
    const sent: string[] = [];
    // Each may hand in 20 times a minute.
    const all = this.callers(3 * perSecond);
    const load = new SteadyLoad(perSecond, async (index) => {
      const caller = all[index % all.length]!;
      const text = `Note ${name} ${index}.`;
      const isAct = index % actEvery === 0;
      if (isAct) sent.push(text);
      const { status, body, headers } = await send(() =>
        isAct
          ? caller.post(
              '/directives',
              { directive: text, capo: 'capo_ops' },
              { 'Idempotency-Key': `${name}-${index}` },
            )
          : caller.get('/directives?limit=5'),
      );
      if (isAct && status === 201) accepted.set(text, body.directiveId);
      return { status, retryAfter: headers['retry-after'] };
    });
    return { load, accepted, sent };
  }

  /** Every act was answered; each is there once, under the id that was answered; the receipts are whole. */
  async expectOnce({ accepted, sent }: ActLoad): Promise<void> {
    const rows = await this.service.rows<{ text: string; id: string }>(
      'select text, directive_id as id from directives where text = any ($1)',
      [sent],
    );
    const kept = new Map(rows.map(({ text, id }) => [text, id]));
    expect(accepted.size).toBe(sent.length);
    expect(rows).toHaveLength(kept.size);
    expect([...accepted].filter(([text, id]) => kept.get(text) !== id)).toEqual([]);
    const { body } = await this.callers(1)[0]!.get('/audit-feed/verify');
    expect(body).toMatchObject({ ok: true, faults: [] });
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.proxy.stop();
    await this.service.close();
  }
}

/** As a client with retries: again, with the same key, until it is neither refused for a passing cause nor cut off. */
export async function untilAnswered(ask: () => Promise<Reply>, tries: Outcome[]): Promise<Reply> {
  const until = performance.now() + GIVES_UP_MS;
  for (;;) {
    const began = performance.now();
    const reply = await ask().catch((error: Error & { code?: string }) => error);
    const status = reply instanceof Error ? (reply.code ?? reply.message) : reply.status;
    tries.push({ status, retryAfter: undefined, tookMs: performance.now() - began });
    if (!(reply instanceof Error) && reply.status < 500) return reply;
    if (performance.now() > until) throw new Error(`no answer: ${status}`);
    await sleep(300);
  }
}

/** How many reads who has answered, as Prometheus is told. */
export async function readsOf({ url }: ServiceProcess): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = [...text.matchAll(/^consigliere_replica_reads_total\{outcome="(\w+)"\} (\d+)$/gm)];
  return Object.fromEntries(lines.map(([, outcome, count]) => [outcome, Number(count)]));
}
