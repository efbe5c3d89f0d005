import { createServer, type Server } from 'node:http';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, type ServiceProcess, startService } from '../../support/processes.js';
import { eventually } from '../../support/test-app.js';
import { queueWork } from './queued-work.js';

/** How much is undone, and how often a process is ended meanwhile. */
export interface Sizes {
  packets: number;
  /** Processes that end somewhere in the middle of a step. */
  anywhere: number;
  /** Processes that end when their undo has reached the receiver, and nobody has recorded it. */
  unrecorded: number;
}

const UNDO = pathToFileURL(join(import.meta.dirname, 'undo-outside.mjs')).href;
/** Documents are withdrawn inside the database, two kinds of others by a receiver outside. */
const KINDS = ['inside', 'test.repeatable', 'test.once'] as const;
type Kind = (typeof KINDS)[number];

/** How long the receiver takes over each undo: long enough to end somebody in the middle of it. */
const ANSWER_AFTER_MS = 25;

/** Counts what it is asked to undo, and has some of those who ask end before it answers. */
class Receiver {
  readonly calls = new Map<string, number>();

  private constructor(private readonly server: Server) {}

  /** `fatal`: which of the packets that it is asked about, by their number, it never answers; `end` is told who asked. */
  static async start(fatal: ReadonlySet<number>, end: (pid: number) => void): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => {
      const id = String(request.headers['idempotency-key']);
      const before = receiver.calls.get(id) ?? 0;
      receiver.calls.set(id, before + 1);
      // None is ended twice over the same packet: after the third time it would be given up.
      if (before === 0 && fatal.has(receiver.calls.size)) end(Number(request.headers['x-pid']));
      else setTimeout(() => response.end(), ANSWER_AFTER_MS);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/undo`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** A revert that undoes work packets inside and outside of the database, in two processes of which one ends again and again. */
export function describeRevert(sizes: Sizes, timeout: number): void {
  let service: Service;
  let receiver: Receiver;
  const replacements: Promise<void>[] = [];

  beforeAll(async () => {
    // Spread over the first two thirds of what goes outside, and over both kinds of it, which take turns.
    const every = Math.floor((sizes.packets * 2) / 3 / 1.5 / sizes.unrecorded) | 1;
    const fatal = new Set(Array.from({ length: sizes.unrecorded }, (_, n) => 2 + n * every));
    receiver = await Receiver.start(fatal, (pid) => {
      replacements.push(replace(alive().find((one) => one.pid === pid)!));
    });
    service = await startService(2, { NODE_OPTIONS: `--import=${UNDO}`, UNDO_URL: receiver.url });
  }, 120_000);
  afterAll(async () => {
    await service.close();
    await receiver.close();
  });

  const alive = () => service.processes.filter(({ exited }) => !exited);
  /** By a statement: a process that answers may just be ending. */
  const counts = async (revertId: string) => {
    const [revert] = await service.rows<{ status: string; counts: Record<string, number> }>(
      `select status, (select jsonb_object_agg(s.status, s.n) || jsonb_build_object('planned',
           (select count(*) from revert_steps p where p.revert_id = $1 and p.status = 'planned'))
         from (select status, count(*) as n from revert_steps where revert_id = $1 group by status) s) as counts
       from reverts where revert_id = $1`,
      [revertId],
    );
    return revert!;
  };

  /** SIGKILL, and another process in its place. */
  async function replace(one: ServiceProcess): Promise<void> {
    await one.kill();
    await service.start();
  }

  /** Work packets that were carried out, by how they are undone. */
  async function carryOut(): Promise<Map<string, Kind>> {
    const directives = Math.ceil(sizes.packets / 4);
    const packets = await queueWork(service, { directives, packetsEach: 4, types: ['document.file'] });
    await eventually(
      () => service.rows(`select 1 from directives where status <> 'executed'`),
      (open) => open.length === 0,
      300,
    );
    const kinds = new Map(packets.map(({ workPacketId }, n) => [workPacketId, KINDS[n % KINDS.length]!]));
    for (const kind of KINDS.slice(1)) {
      await service.rows(
        `update work_packets set compensation = jsonb_build_object('type', $2::text, 'params', '{}'::jsonb)
         where work_packet_id = any($1)`,
        [[...kinds].filter(([, of]) => of === kind).map(([id]) => id), kind],
      );
    }
    return kinds;
  }

  describe(`a revert of ${sizes.packets} work packets, with ${sizes.anywhere + sizes.unrecorded} ends of a process`, () => {
    it(
      'undoes each once, says of which it is not known, and goes back to the mode before',
      async () => {
        const { checkpointId } = (await service.client().post('/guardian/checkpoint')).body;
        const kinds = await carryOut();
        await service.client().post('/guardian/kill-switch');
        const begun = await service.client().post('/guardian/revert', { mode: 'compensate', checkpointId });
        expect(begun.status, begun.text).toBe(200);
        const { revertId, planTotal } = begun.body;
        expect(planTotal).toBe(kinds.size);

        const beganAt = performance.now();
        for (let n = 1; n <= sizes.anywhere; n++) {
          const reached = Math.floor((kinds.size * n) / (sizes.anywhere + 1));
          await eventually(
            () => counts(revertId),
            (now) => now.counts['planned']! <= kinds.size - reached,
            300,
          );
          await pause(randomInt(40));
          const running = alive();
          // Now and then nobody is left.
          const ended = n % 3 === 0 ? running : running.slice(0, 1);
          await Promise.all(ended.map(replace));
        }
        const revert = await eventually(
          () => counts(revertId),
          ({ status }) => status === 'done',
          300,
        );
        const ms = performance.now() - beganAt;
        console.log(`${kinds.size} work packets undone in ${(ms / 1000).toFixed(1)} s`, revert.counts);

        await Promise.all(replacements);
        expect(service.processes.length - 2).toBeGreaterThanOrEqual(sizes.anywhere + sizes.unrecorded);
        await expectEachOnce(kinds, revertId);
      },
      timeout,
    );
  });

  async function expectEachOnce(kinds: Map<string, Kind>, revertId: string): Promise<void> {
    const steps = await service.rows<{ id: string; status: string; reason: string | null }>(
      'select work_packet_id as id, status, reason from revert_steps where revert_id = $1',
      [revertId],
    );
    expect(steps.map(({ id }) => id).toSorted()).toEqual([...kinds.keys()].toSorted());
    const failed = steps.filter(({ status }) => status === 'failed');
    for (const { id, reason } of failed) {
      // Only what cannot be repeated, and of that only what was under way when its process ended.
      expect([kinds.get(id), receiver.calls.get(id) ?? 0], reason ?? '').toEqual([
        'test.once',
        expect.any(Number),
      ]);
      expect(reason).toContain('not known');
    }
    expect(failed.length).toBeLessThanOrEqual(service.processes.length);
    expect(steps.filter(({ status }) => !['done', 'failed'].includes(status))).toEqual([]);

    const undone = steps.filter(({ status }) => status === 'done').map(({ id }) => id);
    const packets = await service.rows<{ id: string }>(
      `select work_packet_id as id from work_packets where status = 'reverted'`,
    );
    expect(packets.map(({ id }) => id).toSorted()).toEqual(undone.toSorted());
    const receipts = await service.rows<{ id: string }>(
      `select entity_id as id from receipts where action = 'packet.reverted'`,
    );
    expect(receipts.map(({ id }) => id).toSorted()).toEqual(undone.toSorted());

    const inside = [...kinds].filter(([, kind]) => kind === 'inside').map(([id]) => id);
    const withdrawn = await service.rows<{ id: string }>(
      `select d.work_packet_id as id from receipts r join documents d on d.document_id = r.entity_id
       where r.action = 'document.withdrawn' and d.withdrawn_at is not null`,
    );
    expect(withdrawn.map(({ id }) => id).toSorted()).toEqual(inside.toSorted());

    // The receiver knows a repetition by its key; what cannot be repeated never is.
    const repeated = [...receiver.calls].filter(([, times]) => times > 1);
    expect(repeated.filter(([id]) => kinds.get(id) !== 'test.repeatable')).toEqual([]);
    expect(repeated.length).toBeLessThanOrEqual(service.processes.length);
    const outside = undone.filter((id) => kinds.get(id) !== 'inside');
    expect(outside.filter((id) => !receiver.calls.has(id))).toEqual([]);

    const { body } = await service.client().get('/guardian');
    expect(body).toMatchObject({ mode: 'guardrailed', killedAt: null });
    expect((await service.client().get('/audit-feed/verify')).body).toMatchObject({ ok: true, faults: [] });
    const directives = await service.rows<{ status: string; left: number }>(
      `select d.status, (select count(*)::int from work_packets p where p.directive_id = d.directive_id
         and p.status = 'executed') as left from directives d`,
    );
    for (const { status, left } of directives) expect(status).toBe(left === 0 ? 'reverted' : 'executed');
    for (const one of alive()) expect(one.logs.filter(({ level }) => (level as number) >= 50)).toEqual([]);
  }
}
