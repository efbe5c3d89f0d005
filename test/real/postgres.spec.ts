import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../e2e/mail/mail-server.js';
import { machinePostgres } from '../support/machine-postgres.js';
import { type Service, type ServiceProcess, startService } from '../support/processes.js';
import { allFound } from '../support/programs.js';
import { eventually } from '../support/test-app.js';
import { type MachineDatabase, startMachineDatabase } from './machine-database.js';
import { figuresOf, type Outcome, SteadyLoad } from './steady-load.js';

const programs = machinePostgres();
const found = allFound('the PostgreSQL of this machine', { PostgreSQL: programs });

const REQUESTS_PER_SECOND = 50;
const READ_ONLY_MS = 10_000;

describe.skipIf(!found)('the PostgreSQL of this machine', { timeout: 120_000 }, () => {
  let database: MachineDatabase;
  let mail: MailServer;
  let service: Service;
  let processes: ServiceProcess[];
  /** The mail server takes each mail at once, and answers when this is resolved. */
  let answersMail: PromiseWithResolvers<undefined>;
  beforeAll(async () => {
    database = await startMachineDatabase(programs!);
    answersMail = Promise.withResolvers();
    answersMail.resolve(undefined);
    mail = await startMailServer({ mail: () => answersMail.promise });
    service = await startService(2, { SMTP_URL: mail.url }, database);
    processes = [...service.processes];
  }, 120_000);
  afterAll(async () => {
    await service?.close();
    await mail?.close();
  });

  /** Hands in a mail to this address and approves its draft; answers the directive. */
  async function approveMailTo(address: string): Promise<string> {
    const text = `Email ${address}: "Your order ships on Friday.", subject "Your order"`;
    const handedIn = await service.client().post('/directive', { text, capo: 'capo_ops' });
    expect(handedIn.status, handedIn.text).toBe(201);
    const { directiveId, approvalId } = handedIn.body;
    const { body } = await service.client().get(`/approvals/${approvalId}?wait=30`);
    expect(body).toMatchObject({ ready: true, status: 'pending' });
    const approved = await service.client().post(`/approvals/${approvalId}/approve`);
    expect(approved.status, approved.text).toBe(200);
    return directiveId;
  }

  /** A mail that the mail server has, and has not answered yet; answers its directive. */
  async function mailUnderWayTo(address: string): Promise<string> {
    answersMail = Promise.withResolvers();
    const directiveId = await approveMailTo(address);
    await eventually(async () => receivedBy(address) === 1);
    return directiveId;
  }

  const isExecuted = (directiveId: string) =>
    eventually(
      async () => (await service.client().get(`/directives/${directiveId}`)).body,
      ({ status }) => status === 'executed',
      60,
    );
  const receivedBy = (address: string) => mail.received.filter(({ to }) => to.includes(address)).length;

  /** Writes and reads in turn; the writes that were answered with 201. */
  function startLoad(name: string): { load: SteadyLoad; accepted: string[] } {
    const accepted: string[] = [];
    const load = new SteadyLoad(REQUESTS_PER_SECOND, async (index) => {
      const externalId = `${name}-${index}`;
      const event = { amount: 1, currency: 'EUR', source: 'test', externalId };
      const { status, headers } =
        index % 2 === 0
          ? await service.client().post('/revenue-events', event)
          : await service.client().get('/agents');
      if (index % 2 === 0 && status === 201) accepted.push(externalId);
      return { status, retryAfter: headers.get('retry-after') ?? undefined };
    });
    return { load, accepted };
  }

  /** Every answer was a success or 503 with Retry-After, nothing accepted is missing, and nobody had to be started again. */
  async function expectSound(name: string, outcomes: readonly Outcome[], accepted: readonly string[]) {
    const refused = outcomes.filter(({ status }) => status !== 200 && status !== 201);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    for (const { retryAfter } of refused) expect(retryAfter).toMatch(/^[1-9]\d*$/);
    const rows = await service.rows<{ id: string; copies: number }>(
      `select external_id as id, count(*)::int as copies from revenue_events where external_id like $1 group by 1`,
      [`${name}-%`],
    );
    expect(rows.filter(({ copies }) => copies > 1)).toEqual([]);
    const kept = new Set(rows.map(({ id }) => id));
    expect(accepted.filter((id) => !kept.has(id))).toEqual([]);
    expect(processes.map(({ exited, errors }) => [exited, errors])).toEqual([
      [false, ''],
      [false, ''],
    ]);
    const verified = await service.client().get('/audit-feed/verify');
    expect(verified.body).toMatchObject({ ok: true, faults: [] });
    return { committedUnheard: kept.size - accepted.length };
  }

  const isReady = (process: ServiceProcess) =>
    service
      .client(process)
      .get('/health/ready')
      .then(({ status }) => status);

  it('serves the whole way from the hand-in to the receipt', async () => {
    const [server] = await service.rows<{ version: string }>('select version()');
    console.info('server', server!.version);
    const directiveId = await approveMailTo('jane@acme.example');
    const { status, history } = await isExecuted(directiveId);
    expect([status, history.at(-1).to]).toEqual(['executed', 'executed']);
    expect(receivedBy('jane@acme.example')).toBe(1);
    const { body: feed } = await service.client().get(`/audit-feed?entity=${directiveId}`);
    expect(feed.items.map(({ action }: { action: string }) => action)).toContain('directive.executed');
    const { body: head } = await service.client().get('/audit-feed/head');
    const { body } = await service
      .client()
      .get(`/audit-feed/verify?heldSeq=${head.seq}&heldHash=${head.hash}`);
    expect(body).toMatchObject({ ok: true, faults: [], keptElsewhere: { head: 'matches' } });
  });

  it('may be restarted under load', async () => {
    const { load, accepted } = startLoad('restart');
    await sleep(2_000);
    const directiveId = await mailUnderWayTo('restart@acme.example');
    const began = performance.now();
    const restarted = database.server.restart();
    await sleep(100);
    answersMail.resolve(undefined);
    await restarted;
    const restartMs = Math.round(performance.now() - began);
    const since = load.outcomes.length;
    await eventually(
      async () => load.outcomes.slice(since).filter(({ status }) => status === 201).length > 10,
    );
    for (const process of processes) expect(await isReady(process)).toBe(200);
    await sleep(3_000);
    const outcomes = await load.stop();
    await isExecuted(directiveId);
    const sound = await expectSound('restart', outcomes, accepted);
    console.info('restart', JSON.stringify({ restartMs, ...figuresOf(outcomes), ...sound }));
    expect(receivedBy('restart@acme.example')).toBe(1);
  });

  it('may be read-only for ten seconds under load', async () => {
    const { load, accepted } = startLoad('read-only');
    await sleep(2_000);
    const probes: number[] = [];
    const directiveId = await mailUnderWayTo('read-only@acme.example');
    await database.server.run('alter system set default_transaction_read_only = on');
    await database.server.run('select pg_reload_conf()');
    const until = Date.now() + READ_ONLY_MS;
    // What was under way when the servers' processes heard of it may end as a success.
    await sleep(1_000);
    const from = load.outcomes.length;
    answersMail.resolve(undefined);
    while (Date.now() < until) {
      for (const process of processes) probes.push(await isReady(process));
      await sleep(500);
    }
    const during = load.outcomes.slice(from);
    await database.server.run('alter system reset default_transaction_read_only');
    await database.server.run('select pg_reload_conf()');
    const since = load.outcomes.length;
    await eventually(
      async () => load.outcomes.slice(since).filter(({ status }) => status === 201).length > 10,
    );
    for (const process of processes) expect(await isReady(process)).toBe(200);
    await sleep(1_000);
    const outcomes = await load.stop();
    console.info(
      'read-only',
      JSON.stringify({ ...figuresOf(outcomes), during: figuresOf(during), probes: [...new Set(probes)] }),
    );
    expect(during.filter(({ status }) => status === 201)).toEqual([]);
    expect(new Set(probes)).toEqual(new Set([503]));
    await expectSound('read-only', outcomes, accepted);
    await isExecuted(directiveId);
    expect(receivedBy('read-only@acme.example')).toBe(1);
  });
});
