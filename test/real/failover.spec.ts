import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../e2e/mail/mail-server.js';
import { freePort, type MachineServer, machinePostgres, startReplica } from '../support/machine-postgres.js';
import { type Service, startService } from '../support/processes.js';
import { allFound, programPath } from '../support/programs.js';
import { eventually } from '../support/test-app.js';
import { type DatabaseBalancer, startDatabaseBalancer } from './database-balancer.js';
import { type MachineDatabase, startMachineDatabase } from './machine-database.js';
import { ProxiedClient, type Reply } from './proxied-client.js';
import { type Proxy, startProxy } from './proxies.js';
import { figuresOf, type Outcome, SteadyLoad } from './steady-load.js';

const programs = machinePostgres();
const found = allFound('a failover', { PostgreSQL: programs, haproxy: programPath('haproxy') });

const REQUESTS_PER_SECOND = 50;
/** As long as Patroni may take to notice that the primary is gone. */
const NOTICED_MS = 2_000;
/** For a balancer to learn that a process is back. */
const BACK_MS = 3_000;
const GIVES_UP_MS = 60_000;

describe.skipIf(!found)('two api and two workers over a primary and a replica', { timeout: 300_000 }, () => {
  let database: MachineDatabase;
  let replica: MachineServer;
  let balancer: DatabaseBalancer;
  let proxy: Proxy;
  let mail: MailServer;
  let service: Service;
  let ports: number[];
  const clients: ProxiedClient[] = [];
  /** The mail server takes each mail at once, and answers when this is resolved. */
  let answersMail = Promise.resolve<undefined>(undefined);

  beforeAll(async () => {
    mail = await startMailServer({ mail: () => answersMail });
    database = await startMachineDatabase(programs!);
    replica = await startReplica(programs!, database.server);
    balancer = await startDatabaseBalancer([database.server, replica]);
    // After the replica was copied: it has no replica of its own.
    await database.server.run(`alter system set synchronous_standby_names = '*'`);
    await database.server.run('select pg_reload_conf()');
    const through = (port: number) => Object.assign(new URL(database.url), { port: String(port) }).href;
    ports = [await freePort(), await freePort()];
    const throughBalancer = { ...database, url: through(balancer.ports.primary) };
    service = await startService(
      1,
      {
        PROCESS_ROLE: 'api',
        PORT: String(ports[0]),
        DRAIN_SECONDS: '5',
        SMTP_URL: mail.url,
        DATABASE_READ_URL: through(balancer.ports.replica),
      },
      throughBalancer,
    );
    await startAgain(1);
    for (const index of [2, 3]) await startAgain(index);
    proxy = await startProxy('haproxy', ports);
    await sleep(BACK_MS);
  }, 120_000);
  afterAll(async () => {
    for (const client of clients) client.close();
    await proxy?.stop();
    await service?.close();
    await balancer?.stop();
    await replica?.stop();
    await mail?.close();
  });

  /** The first two answer requests behind the balancer, the others work. */
  const startAgain = (index: number) =>
    service.start(index < 2 ? { PORT: String(ports[index]) } : { PROCESS_ROLE: 'worker', PORT: '0' });

  /** Callers with addresses of their own, so that none reaches a limit. */
  function callers(count: number): ProxiedClient[] {
    return Array.from({ length: count }, () => {
      const at = clients.length + 1;
      const one = new ProxiedClient(proxy, service.token, `127.2.${Math.floor(at / 250)}.${(at % 250) + 1}`);
      clients.push(one);
      return one;
    });
  }

  /** Hands in and lists in turn; `send` is how one request is sent. What was answered, by the text that was handed in. */
  function startLoad(name: string, send: (ask: () => Promise<Reply>) => Promise<Reply>) {
    const accepted = new Map<string, string>();
    const sent: string[] = [];
    const all = callers(3 * REQUESTS_PER_SECOND);
    const load = new SteadyLoad(REQUESTS_PER_SECOND, async (index) => {
      const caller = all[index % all.length]!;
      const text = `Note ${name} ${index}.`;
      const isAct = index % 2 === 0;
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

  /** Each text once, under the id that was answered; its receipts are whole. */
  async function expectOnce(accepted: ReadonlyMap<string, string>, sent: readonly string[]): Promise<void> {
    const rows = await rowsOf<{ text: string; id: string }>(
      'select text, directive_id as id from directives where text = any ($1)',
      [sent],
    );
    const kept = new Map(rows.map(({ text, id }) => [text, id]));
    expect(rows).toHaveLength(kept.size);
    expect([...accepted].filter(([text, id]) => kept.get(text) !== id)).toEqual([]);
    const { body } = await callers(1)[0]!.get('/audit-feed/verify');
    expect(body).toMatchObject({ ok: true, faults: [] });
  }

  let primary: MachineServer | undefined;
  /** Rows of whichever server is the primary. */
  async function rowsOf<T>(sql: string, values: unknown[]): Promise<T[]> {
    if (!primary) return service.rows<T>(sql, values);
    const { rows } = await primary.run(sql, 'consigliere', values);
    return rows as T[];
  }

  it('refuse no request while all four are restarted in turn', async () => {
    const { load, accepted, sent } = startLoad('rolling', (ask) => ask());
    await sleep(2_000);
    const restarts: object[] = [];
    const serving = [...service.processes];
    for (const index of [0, 1, 2, 3]) {
      const began = performance.now();
      const code = await serving[index]!.stop();
      await startAgain(index);
      restarts.push({ code, backMs: Math.round(performance.now() - began) });
      await sleep(BACK_MS);
    }
    const figures = figuresOf(await load.stop());
    console.info('rolling restart of four', JSON.stringify({ ...figures, restarts }));
    expect(restarts).toMatchObject(Array.from({ length: 4 }, () => ({ code: 0 })));
    expect(Object.keys(figures.statuses).toSorted()).toEqual(['200', '201']);
    expect(accepted.size).toBe(sent.length);
    await expectOnce(accepted, sent);
  });

  it('lose no answered act in a failover, and do none twice', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    answersMail = promise;
    const [person] = callers(1) as [ProxiedClient];
    const text = 'Email jane@acme.example: "Your order ships on Friday.", subject "Your order"';
    const handedIn = await person.post('/directive', { text, capo: 'capo_ops' });
    const { approvalId, directiveId } = handedIn.body;
    await eventually(async () => (await person.get(`/approvals/${approvalId}?wait=30`)).body.ready);
    expect((await person.post(`/approvals/${approvalId}/approve`, {})).status).toBe(200);
    await eventually(async () => mail.received.length === 1);

    const tries: Outcome[] = [];
    const { load, accepted, sent } = startLoad('failover', (ask) => untilAnswered(ask, tries));
    await sleep(3_000);
    const endedAt = performance.now();
    await database.server.crash();
    await sleep(NOTICED_MS);
    await replica.run('select pg_promote()');
    primary = replica;
    const promotedMs = Math.round(performance.now() - endedAt);
    const answered = tries.length;
    await eventually(
      async () => tries.slice(answered).filter(({ status }) => status === 201).length > 10,
      Boolean,
      30,
    );
    const servesAgainMs = Math.round(performance.now() - endedAt);
    resolve(undefined);
    await sleep(5_000);
    const outcomes = await load.stop();
    const { body } = await eventually(
      () => person.get(`/directives/${directiveId}`),
      (reply) => reply.body?.status === 'executed',
      60,
    );
    const [{ mails, unfinished }] = (await rowsOf(
      `select (select count(*)::int from directives where text = any ($1) and status in ('queued', 'routing')) as unfinished,
         (select count(*)::int from work_packets where directive_id = $2) as mails`,
      [sent, directiveId],
    )) as [{ mails: number; unfinished: number }];
    console.info(
      'failover',
      JSON.stringify({
        promotedMs,
        servesAgainMs,
        tries: figuresOf(tries),
        acts: figuresOf(outcomes),
        unfinished,
      }),
    );
    expect(body.status).toBe('executed');
    expect([mails, mail.received.length]).toEqual([1, 1]);
    expect(accepted.size).toBe(sent.length);
    await expectOnce(accepted, sent);
    expect(new Set(service.processes.map(({ errors }) => errors))).toEqual(new Set(['']));
  });

  /** As a client with retries: again, with the same key, until it is neither refused for a passing cause nor cut off. */
  async function untilAnswered(ask: () => Promise<Reply>, tries: Outcome[]): Promise<Reply> {
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
});
