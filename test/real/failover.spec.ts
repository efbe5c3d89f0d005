import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../e2e/mail/mail-server.js';
import {
  type MachineServer,
  machinePostgres,
  startMachineServer,
  startReplica,
} from '../support/machine-postgres.js';
import { allFound, programPath } from '../support/programs.js';
import { eventually } from '../support/test-app.js';
import { type DatabaseBalancer, startDatabaseBalancer, tellRole } from './database-balancer.js';
import { prepareDatabase } from './machine-database.js';
import type { ProxiedClient } from './proxied-client.js';
import { BACK_MS, ReplicatedService, untilAnswered } from './replicated-service.js';
import { figuresOf, type Outcome } from './steady-load.js';

const programs = machinePostgres();
const found = allFound('a failover', { PostgreSQL: programs, haproxy: programPath('haproxy') });

/** Hands in and lists in turn. */
const LOAD = { perSecond: 50, actEvery: 2 };
/** As long as Patroni may take to notice that the primary is gone. */
const NOTICED_MS = 2_000;

describe.skipIf(!found)('two api and two workers over a primary and a replica', { timeout: 300_000 }, () => {
  let primary: MachineServer;
  let replica: MachineServer;
  let roles: Awaited<ReturnType<typeof tellRole>>[];
  let balancer: DatabaseBalancer;
  let mail: MailServer;
  let replicated: ReplicatedService;
  /** The mail server takes each mail at once, and answers when this is resolved. */
  let answersMail = Promise.resolve<undefined>(undefined);

  beforeAll(async () => {
    mail = await startMailServer({ mail: () => answersMail });
    primary = await startMachineServer(programs!, {});
    replica = await startReplica(programs!, primary);
    roles = [await tellRole(primary), await tellRole(replica)];
    balancer = await startDatabaseBalancer(roles);
    // After the replica was copied: it has no replica of its own.
    await primary.run(`alter system set synchronous_standby_names = '*'`);
    await primary.run('select pg_reload_conf()');
    const url = Object.assign(new URL(primary.url), { port: String(balancer.ports.primary) }).href;
    const database = await prepareDatabase(url, () => primary.stop());
    replicated = await ReplicatedService.start(database, balancer.ports.replica, { SMTP_URL: mail.url });
  }, 120_000);
  afterAll(async () => {
    await replicated?.close();
    await balancer?.stop();
    for (const role of roles ?? []) role.close();
    await replica?.stop();
    await mail?.close();
  });

  it('refuse no request while all four are restarted in turn', async () => {
    const load = replicated.startLoad('rolling', LOAD, (ask) => ask());
    await sleep(2_000);
    const restarts: object[] = [];
    const serving = [...replicated.service.processes];
    for (const index of [0, 1, 2, 3]) {
      const began = performance.now();
      const code = await serving[index]!.stop();
      await replicated.startAgain(index);
      restarts.push({ code, backMs: Math.round(performance.now() - began) });
      await sleep(BACK_MS);
    }
    const figures = figuresOf(await load.load.stop());
    console.info('rolling restart of four', JSON.stringify({ ...figures, restarts }));
    expect(restarts).toMatchObject(Array.from({ length: 4 }, () => ({ code: 0 })));
    expect(Object.keys(figures.statuses).toSorted()).toEqual(['200', '201']);
    await replicated.expectOnce(load);
  });

  it('lose no answered act in a failover, and do none twice', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    answersMail = promise;
    const [person] = replicated.callers(1) as [ProxiedClient];
    const text = 'Email jane@acme.example: "Your order ships on Friday.", subject "Your order"';
    const handedIn = await person.post('/directive', { text, capo: 'capo_ops' });
    const { approvalId, directiveId } = handedIn.body;
    await eventually(async () => (await person.get(`/approvals/${approvalId}?wait=30`)).body.ready);
    expect((await person.post(`/approvals/${approvalId}/approve`, {})).status).toBe(200);
    await eventually(async () => mail.received.length === 1);

    const tries: Outcome[] = [];
    const load = replicated.startLoad('failover', LOAD, (ask) => untilAnswered(ask, tries));
    await sleep(3_000);
    const endedAt = performance.now();
    await primary.crash();
    await sleep(NOTICED_MS);
    await replica.run('select pg_promote()');
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
    const outcomes = await load.load.stop();
    const { body } = await eventually(
      () => person.get(`/directives/${directiveId}`),
      (reply) => reply.body?.status === 'executed',
      60,
    );
    const [{ mails, unfinished }] = (await replicated.service.rows(
      `select (select count(*)::int from directives where text = any ($1) and status in ('queued', 'routing')) as unfinished,
         (select count(*)::int from work_packets where directive_id = $2) as mails`,
      [load.sent, directiveId],
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
    await replicated.expectOnce(load);
    expect(new Set(replicated.service.processes.map(({ errors }) => errors))).toEqual(new Set(['']));
  });
});
