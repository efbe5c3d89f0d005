import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/test-app.js';
import { type Service, type ServiceProcess, startService } from '../../support/processes.js';
import { PartnerDesk, traces, type Update } from './partner-desk.js';

const SECRET = 'a secret of the partner and ours';
const NO_EFFECT = { events: 0, buyers: 0, metrics: 0, signals: 0, receipts: 0 };
const ONE_EFFECT = { events: 1, buyers: 1, metrics: 1, signals: 1, receipts: 2 };

let service: Service;
beforeAll(async () => {
  service = await startService(3, { PROCESS_ROLE: 'api', PARTNER_SIGNING_SECRET: SECRET });
}, 90_000);
afterAll(() => service.close());

const deskAt = (process: ServiceProcess) => new PartnerDesk(process.url, service.workspaceId, SECRET);
const alive = () => service.processes.filter(({ exited }) => !exited);

/** What has happened since, per table. */
async function effectSince(before: unknown): Promise<Record<string, number>> {
  const after = (await traces(service.rows, service.workspaceId)) as Record<string, number>;
  return Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - (before as Record<string, number>)[name]!]),
  );
}

describe('50 parallel copies of one update, over three processes', () => {
  it('are one effect and 50 answers', { timeout: 60_000 }, async () => {
    const before = await traces(service.rows, service.workspaceId);
    const update = deskAt(service.processes[0]!).update({ customerEntitlementId: randomUUID() });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => deskAt(service.processes[index % 3]!).send(update)),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
    for (const { status, body } of answers) {
      expect(body).toEqual({
        accepted: true,
        duplicate: status === 200,
        partnerEventId: update['partnerEventId'],
        signalId: answers[0]!.body.signalId,
      });
    }
    expect(await effectSince(before)).toEqual(ONE_EFFECT);
  });

  it(
    'with two contents are one effect: one 202, the same again 200, the other 409',
    { timeout: 60_000 },
    async () => {
      const before = await traces(service.rows, service.workspaceId);
      const one = deskAt(service.processes[0]!).update({ customerEntitlementId: randomUUID() });
      const other = { ...one, newConfidence: 0.1 };
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          deskAt(service.processes[index % 3]!).send(index % 2 ? one : other),
        ),
      );
      const count = (status: number) => answers.filter((answer) => answer.status === status).length;
      expect([count(202), count(200), count(409)]).toEqual([1, 24, 25]);
      expect(await effectSince(before)).toEqual(ONE_EFFECT);
    },
  );
});

describe('a process killed with an update in its hands', () => {
  /** Holds what `sql` locks, sends the update to a process, and kills that as soon as it waits. */
  async function killWaiting(update: Update, sql: string, values: unknown[] = []): Promise<void> {
    const victim = await service.start();
    const blocker: PoolClient = await service.database.owner.connect();
    try {
      await blocker.query('begin');
      await blocker.query(sql, values);
      const lost = deskAt(victim)
        .send(update)
        .catch(() => undefined);
      await eventually(async () => {
        const [row] = await service.rows<{ waiting: number }>(
          `select count(*)::int as waiting from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return row!.waiting === 1;
      });
      await victim.kill();
      expect(await lost).toBeUndefined();
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
  }

  it('leaves nothing when it dies before the COMMIT is on its way', { timeout: 60_000 }, async () => {
    const before = await traces(service.rows, service.workspaceId);
    const update = deskAt(service.processes[0]!).update({ customerEntitlementId: randomUUID() });
    await killWaiting(update, 'lock table personas in exclusive mode');
    await serverIsIdle();
    expect(await effectSince(before)).toEqual(NO_EFFECT);
    expect((await deskAt(alive()[0]!).send(update)).status).toBe(202);
    expect((await deskAt(alive()[1]!).send(update)).status).toBe(200);
    expect(await effectSince(before)).toEqual(ONE_EFFECT);
  });

  it.each([
    ['between its signal and its receipt', 'lock table receipts in exclusive mode', false],
    [
      'between its receipt and the COMMIT',
      'select 1 from receipt_heads where workspace_id = $1 for update',
      true,
    ],
  ])('leaves all or nothing when it dies %s', { timeout: 60_000 }, async (_when, sql, ofWorkspace) => {
    const before = await traces(service.rows, service.workspaceId);
    const update = deskAt(service.processes[0]!).update({ customerEntitlementId: randomUUID() });
    await killWaiting(update, sql, ofWorkspace ? [service.workspaceId] : []);
    await serverIsIdle();
    // Whether the server gets as far as the COMMIT before it notices that nobody listens is its own affair.
    const left = await effectSince(before);
    expect(left).toEqual(left['events'] === 0 ? NO_EFFECT : ONE_EFFECT);
    const again = await deskAt(alive()[0]!).send(update);
    expect(again.status).toBe(left['events'] === 0 ? 202 : 200);
    expect(await effectSince(before)).toEqual(ONE_EFFECT);
    expect(
      await service.rows('select signal_id from partner_events where partner_event_id = $1', [
        update['partnerEventId'],
      ]),
    ).toEqual([{ signal_id: again.body.signalId }]);
  });

  /** The server works off what the dead process had sent. */
  async function serverIsIdle(): Promise<void> {
    await eventually(async () => {
      const [row] = await service.rows<{ open: number }>(
        `select count(*)::int as open from pg_stat_activity
         where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`,
      );
      return row!.open === 0;
    });
    await sleep(50);
  }
});
