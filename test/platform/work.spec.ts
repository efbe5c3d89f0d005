import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { backoffMs } from '../../src/platform/work/backoff.js';
import type { WorkError, WorkItem, WorkKind } from '../../src/platform/work/work-item.js';
import { eventually } from '../support/test-app.js';
import { result, WorkDesk, type WorkProcess } from './work-processes.js';

let desk: WorkDesk;
beforeAll(async () => {
  desk = await WorkDesk.open();
});
afterEach(() => desk.clear());
afterAll(() => desk.close());

/** Attempts that a test lets end when it wants to. */
class Gate {
  readonly running: WorkItem[] = [];
  readonly signals: AbortSignal[] = [];
  most = 0;
  #inside = 0;
  #isOpen = false;
  readonly #waiting: (() => void)[] = [];

  async pass(item: WorkItem, signal: AbortSignal): Promise<void> {
    this.running.push(item);
    this.signals.push(signal);
    this.most = Math.max(this.most, ++this.#inside);
    if (!this.#isOpen) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#inside--;
  }

  open(): void {
    this.#isOpen = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  reached(count: number): Promise<unknown> {
    return eventually(
      async () => this.running.length,
      (running) => running >= count,
    );
  }
}

function kind(
  name: string,
  run: WorkKind['run'],
  options: Partial<WorkKind> = {},
): WorkKind & { givenUp: [item: WorkItem, error: WorkError][] } {
  const givenUp: [WorkItem, WorkError][] = [];
  return {
    name,
    pool: 10,
    perQueue: 10,
    tries: 5,
    run,
    giveUp: async (item, error) => void givenUp.push([item, error]),
    ...options,
    givenUp,
  };
}

/** Until the item has ended so many attempts without being complete. */
function ended(id: string, count: number) {
  return eventually(
    () => desk.ends(id),
    (ends) => ends.length >= count,
  );
}

describe('work', () => {
  it('exists if and only if its act commits, and is done soon after the commit', async () => {
    const done: string[] = [];
    const process = await desk.start(kind('t.once', async ({ id }) => void done.push(id)));
    await expect(
      process.transaction((work) => {
        work.enqueue('t.once', { id: 'undone' });
        throw new Error('the act failed');
      }),
    ).rejects.toThrow('the act failed');
    await process.transaction((work) => work.enqueue('t.once', { id: 'one' }, { id: 'two', queue: 'own' }));
    await desk.done('t.once');
    expect(done.toSorted()).toEqual(['one', 'two']);
  });

  it('that is enqueued again is due again, and voids the attempt that is under way', async () => {
    const gate = new Gate();
    const process: WorkProcess = await desk.start(
      kind('t.again', async (item, signal) => {
        await gate.pass(item, signal);
        await process.complete(item);
      }),
    );
    await process.transaction((work) => work.enqueue('t.again', { id: 'again' }));
    await gate.reached(1);
    await process.transaction((work) => work.enqueue('t.again', { id: 'again' }));
    await gate.reached(2);
    gate.open();
    await desk.done('t.again');
    const attempts = gate.running.map(({ attempt }) => attempt);
    expect(await desk.rows(`select attempt from notes.results where id = 'again'`)).toEqual([
      { attempt: Math.max(...attempts) },
    ]);
  });

  it('that is rescheduled comes back when it is due, and counts no failure', async () => {
    const attempts: number[] = [];
    const process: WorkProcess = await desk.start(
      kind('t.later', async (item) => {
        attempts.push(item.attempt);
        if (attempts.length === 1) await process.work.rescheduleWith(item, 300, [result(item)]);
      }),
    );
    await process.transaction((work) => work.enqueue('t.later', { id: 'later' }));
    await desk.done('t.later');
    // No number comes twice.
    expect(new Set(attempts).size).toBe(2);
    const [end, ...others] = await desk.ends('later');
    expect([end!.failures, others]).toEqual([0, []]);
    expect(end!.wait_ms).toBeGreaterThan(0);
    expect(end!.wait_ms).toBeLessThanOrEqual(300);
    expect(await desk.results('later')).toEqual(['later']);
  });

  it('that is cancelled is not done, and an attempt that is under way leaves nothing behind', async () => {
    const gate = new Gate();
    const process: WorkProcess = await desk.start(
      kind(
        't.cancel',
        async (item, signal) => {
          await gate.pass(item, signal);
          await process.complete(item);
        },
        { perQueue: 1 },
      ),
    );
    await process.transaction((work) =>
      work.enqueue('t.cancel', { id: 'cancel-1' }, { id: 'cancel-2' }, { id: 'cancel-3' }),
    );
    await gate.reached(1);
    await process.transaction((work) => work.cancel('t.cancel', ['cancel-1', 'cancel-2', 'cancel-3']));
    gate.open();
    await process.close();
    expect(gate.running).toHaveLength(1);
    expect(await desk.results('cancel')).toEqual([]);
  });
});

describe('a queue with 10,000 due items', () => {
  it('delays no other: each gets its turn', async () => {
    let flooded = 0;
    const whenDone: number[] = [];
    const flood = kind(
      't.fair',
      async ({ queue }) => {
        await turn();
        if (queue === 'flood') flooded++;
        else whenDone.push(flooded);
      },
      { pool: 8, perQueue: 8 },
    );
    await desk.leave('t.fair', 'flood', 10_000);
    const process = await desk.start(flood);
    await eventually(
      async () => flooded,
      (count) => count > 50,
    );
    const before = flooded;
    await process.transaction((work) =>
      work.enqueue('t.fair', ...Array.from({ length: 20 }, (_, n) => ({ id: `calm-${n}`, queue: 'calm' }))),
    );
    await eventually(
      async () => whenDone.length,
      (count) => count === 20,
    );
    // Half of what was done since is the other's, and what was under way before.
    expect(whenDone.at(-1)! - before).toBeLessThan(1_000);
    expect(flooded).toBeLessThan(10_000);
  });
});

describe('two processes', () => {
  it('keep the cap of a queue between them, and drain it without waiting for the sweep', async () => {
    let inside = 0;
    let most = 0;
    const counts = [0, 0];
    const counted = (process: number) =>
      kind(
        't.cap',
        async () => {
          most = Math.max(most, ++inside);
          await turn();
          inside--;
          counts[process]!++;
        },
        // Neither fills the cap alone, so each finds room at its first claim; together they would exceed it.
        { perQueue: 8, perQueueEverywhere: 10 },
      );
    const [one, other] = [await desk.start(counted(0)), await desk.start(counted(1))];
    await desk.leave('t.cap', 'capped', 2_000);
    one.notify('t.cap', 'capped');
    other.notify('t.cap', 'capped');
    await desk.done('t.cap');
    expect(counts[0]! + counts[1]!).toBe(2_000);
    expect(most).toBeLessThanOrEqual(10);
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });

  it('hold no more than the cap in flight', async () => {
    const gate = new Gate();
    const slow = () =>
      kind('t.slow', (item, signal) => gate.pass(item, signal), { perQueue: 3, perQueueEverywhere: 4 });
    await desk.leave('t.slow', 'slow', 20);
    await desk.start(slow());
    await desk.start(slow());
    await gate.reached(4);
    expect((await desk.items('t.slow')).filter(({ claimed }) => claimed)).toHaveLength(4);
    gate.open();
    await desk.done('t.slow');
    expect(gate.most).toBeLessThanOrEqual(4);
    expect(new Set(gate.running.map(({ id }) => id)).size).toBe(20);
  });
});

describe('a look for due work', () => {
  /** Blocks that one look reads of what fell due in the last seconds. */
  async function blocks(): Promise<number> {
    const [plan] = await desk.rows<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, format json) select * from app.due_work('{t.look}', '1.5 seconds', now() - interval '6 seconds')`,
    );
    const { Plan } = plan!['QUERY PLAN'][0];
    return Plan['Shared Hit Blocks']! + Plan['Shared Read Blocks']!;
  }

  it.each([
    ['queues that wait', 'n', `now() + interval '1 day'`],
    ['queues that were seen before', 'n', `now() - interval '1 minute'`],
    ['items in one queue', '0', `now() - interval '1 minute'`],
    ['parked items', 'n', `'infinity'`],
  ])('reads no more with 10,000 %s than with ten', async (_what, queue, due) => {
    const read: number[] = [];
    for (const count of [10, 10_000]) {
      await desk.clear();
      await desk.rows(
        `insert into work_items (kind, id, workspace_id, queue, due_at)
         select 't.look', n, 'wks_test', (${queue})::text, ${due} from generate_series(1, ${count}) n`,
      );
      await blocks();
      read.push(await blocks());
    }
    // An index is deeper with more entries.
    expect(read[1]).toBeLessThan(read[0]! + 20);
  });

  it('finds again what another process had in flight, however long it has been due', async () => {
    const done: string[] = [];
    const work = kind('t.left', async ({ id }) => void done.push(id), { perQueueEverywhere: 1 });
    await desk.leave('t.left', 'left', 3);
    const idle = await desk.start();
    const { items } = await idle.anotherClaimer().claim(work, new Map([['left', 1]]));
    await desk.rows(
      `update work_items set due_at = now() - interval '1 hour' where kind = 't.left' and not claimed`,
    );
    // Found by the first look, which finds the queue as well.
    await desk.leave('t.left', 'own');
    await desk.start(work);
    await eventually(async () => done.length > 0);
    expect(done).toEqual(['own-1']);
    // It ends, and nobody is told.
    await desk.rows(`delete from work_items where kind = 't.left' and id = $1`, [items[0]!.id]);
    await desk.done('t.left');
    expect(done).toHaveLength(3);
  });

  it('tries again what could not be claimed, however long it has been due', async () => {
    await desk.rows(`
      create function notes.claim(text, text[], int[], int, interval, text)
        returns table (id text, workspace_id text, queue text, attempt bigint, failures int, crashes int, last_error jsonb, probe boolean, traceparent text)
        language plpgsql as $$
      begin
        if not exists (select from notes.results r where r.id = 'may claim') then raise 'not yet'; end if;
        return query select * from app.claim_work($1, $2, $3, $4, $5, $6);
      end $$`);
    await desk.leave('t.refused', 'refused');
    await desk.rows(`update work_items set due_at = now() - interval '1 hour'`);
    const done: string[] = [];
    await desk.start(kind('t.refused', async ({ id }) => void done.push(id), { claim: 'notes.claim' }));
    await desk.logged('work could not be claimed; the sweep looks again');
    await desk.rows(`insert into notes.results (id) values ('may claim')`);
    await desk.done('t.refused');
    expect(done).toEqual(['refused-1']);
  });
});

describe('an attempt whose lease was lost', () => {
  it('is aborted, and its result is discarded as a whole', async () => {
    const gate = new Gate();
    const work = kind('t.lost', async (item, signal) => {
      const aborted = once(signal, 'abort');
      await gate.pass(item, signal);
      await aborted;
      await process.complete(item);
    });
    const process: WorkProcess = await desk.start(work);
    await process.transaction((queue) => queue.enqueue('t.lost', { id: 'lost' }));
    await gate.reached(1);
    // As another process does that claims it when the lease is over.
    await desk.rows(
      `update work_items set attempt = attempt + 1, due_at = now() + interval '1 hour' where id = 'lost'`,
    );
    gate.open();
    await desk.logged('a late result was discarded');
    expect(gate.signals[0]!.aborted).toBe(true);
    expect(await desk.results('lost')).toEqual([]);
    const { attempt } = gate.running[0]!;
    expect(await desk.items('t.lost')).toMatchObject([{ claimed: true, attempt: attempt + 1, failures: 0 }]);
    expect(work.givenUp).toEqual([]);
  });

  it('keeps its lease as long as it runs', async () => {
    const gate = new Gate();
    const process = await desk.start(kind('t.long', (item, signal) => gate.pass(item, signal)));
    await process.transaction((work) => work.enqueue('t.long', { id: 'long' }));
    await gate.reached(1);
    const due = async () =>
      (await desk.rows<{ due_at: Date }>(`select due_at from work_items where id = 'long'`))[0]!.due_at;
    const first = await due();
    await eventually(due, (later) => later > first);
    expect(await desk.items('t.long')).toMatchObject([
      { claimed: true, attempt: gate.running[0]!.attempt, crashes: 0 },
    ]);
    gate.open();
    await desk.done('t.long');
  });
});

describe('an item whose process ended', () => {
  /** Claims as a process does that is killed before it can say how the attempt ended. */
  async function crash(process: WorkProcess, work: WorkKind, times: number): Promise<void> {
    for (let crashes = 0; crashes < times; crashes++) {
      await desk.makeDue(work.name);
      const { items } = await process.anotherClaimer().claim(work, new Map([['killer', 1]]));
      expect(items).toMatchObject([{ id: 'killer-1', crashes }]);
    }
    await desk.makeDue(work.name);
  }

  it('is claimed again, and after three such processes given up without being begun', async () => {
    const begun: string[] = [];
    const work = kind('t.killer', async ({ id }) => void begun.push(id));
    const idle = await desk.start();
    await desk.leave('t.killer', 'killer');
    await crash(idle, work, 3);
    await desk.start(work);
    await desk.done('t.killer');
    expect(begun).toEqual([]);
    expect(work.givenUp).toEqual([
      [
        expect.objectContaining({ id: 'killer-1', crashes: 3 }),
        expect.objectContaining({ code: 'PROCESS_ENDED' }),
      ],
    ]);
  });

  it('is not counted as crashed when it comes back to the process that only lost its lease', async () => {
    const work = kind('t.killer', async () => undefined);
    const process = await desk.start();
    await desk.leave('t.killer', 'killer');
    const claims = process.anotherClaimer();
    for (let times = 0; times < 4; times++) {
      await desk.makeDue('t.killer');
      expect((await claims.claim(work, new Map([['killer', 1]]))).items).toMatchObject([{ crashes: 0 }]);
    }
  });

  it('counts anew once an attempt has said how it ended', async () => {
    const begun: number[] = [];
    const work = kind('t.killer', async (item) => {
      begun.push(item.crashes);
      if (begun.length === 1) await process.work.rescheduleWith(item, 0, []);
    });
    const idle = await desk.start();
    await desk.leave('t.killer', 'killer');
    await crash(idle, work, 2);
    const process: WorkProcess = await desk.start(work);
    await desk.done('t.killer');
    expect(begun).toEqual([2, 0]);
    expect(work.givenUp).toEqual([]);
  });

  it('is not begun again either when it cannot be given up', async () => {
    const begun: string[] = [];
    const work = kind('t.killer', async ({ id }) => void begun.push(id), {
      giveUp: async () => {
        throw new Error('nobody can give it up');
      },
    });
    const idle = await desk.start();
    await desk.leave('t.killer', 'killer');
    await crash(idle, work, 3);
    await desk.start(work);
    for (let count = 1; count <= 4; count++) {
      await ended('killer-1', count);
      await desk.makeDue('t.killer');
    }
    expect(await desk.items('t.killer')).toMatchObject([
      { claimed: false, isParked: true, last_error: { code: 'PROCESS_ENDED' } },
    ]);
    expect(begun).toEqual([]);
  });
});

describe('an attempt that throws', () => {
  it('is tried again with backoff, and after its tries given up with what an operator may know', async () => {
    let begun = 0;
    const work = kind('t.throw', async () => {
      begun++;
      throw Object.assign(new Error('a detail of the inside'), { code: '23505' });
    });
    const process = await desk.start(work);
    await process.transaction((queue) => queue.enqueue('t.throw', { id: 'throw', queue: 'throw' }));
    for (let failures = 1; failures < 5; failures++) {
      const ends = await ended('throw', failures);
      expect(ends.map((end) => end.failures)).toEqual(Array.from({ length: failures }, (_, n) => n + 1));
      // Looked at a moment after it was written.
      expect(Math.ceil(ends.at(-1)!.wait_ms / 1000)).toBe(backoffMs(failures) / 1000);
      await desk.makeDue('t.throw');
      process.notify('t.throw', 'throw');
    }
    await desk.done('t.throw');
    expect(begun).toBe(5);
    expect(work.givenUp).toEqual([
      [
        expect.objectContaining({ id: 'throw', failures: 4 }),
        { code: 'UNEXPECTED', message: 'An unexpected error occurred (23505).' },
      ],
    ]);
  });

  it('takes back what it has written, and keeps no other item waiting', async () => {
    const done: string[] = [];
    const work = kind(
      't.mixed',
      async (item) => {
        if (item.queue === 'calm') return void done.push(item.id);
        await process.transaction(async () => {
          const { text, values } = result(item);
          await process.db.query(text, values);
          throw new Error('after the write');
        });
      },
      { pool: 4, perQueue: 2 },
    );
    await desk.leave('t.mixed', 'bad', 200);
    const process: WorkProcess = await desk.start(work);
    // Some of them have written and failed, and others still wait, before the calm one comes.
    const failed = () => desk.rows(`select 1 from work_items where kind = 't.mixed' and failures > 0`);
    await eventually(failed, (rows) => rows.length > 4);
    await process.transaction((queue) => queue.enqueue('t.mixed', { id: 'fine', queue: 'calm' }));
    await eventually(async () => done.length > 0);
    expect(done).toEqual(['fine']);
    expect(await desk.results('bad')).toEqual([]);
    expect(await desk.items('t.mixed')).not.toEqual([]);
  });

  it('is parked when it cannot even be given up, and is not begun for that', async () => {
    let begun = 0;
    let given = 0;
    const work = kind(
      't.stuck',
      async () => {
        begun++;
        throw new Error('it fails');
      },
      {
        giveUp: async () => {
          given++;
          throw new Error('nobody can give it up');
        },
      },
    );
    const process = await desk.start(work);
    await process.transaction((queue) => queue.enqueue('t.stuck', { id: 'stuck', queue: 'stuck' }));
    for (let count = 1; count <= 8; count++) {
      await ended('stuck', count);
      await desk.makeDue('t.stuck');
      process.notify('t.stuck', 'stuck');
    }
    expect(await desk.items('t.stuck')).toMatchObject([
      { claimed: false, isParked: true, failures: 8, last_error: { code: 'UNEXPECTED' } },
    ]);
    expect([begun, given]).toEqual([5, 4]);
  });
});

describe('an outage of the database', () => {
  it('says nothing about the work: it is done again, and no failure is counted', async () => {
    const gate = new Gate();
    const work = kind('t.outage', async (item, signal) => {
      await gate.pass(item, signal);
      await process.complete(item);
    });
    const process: WorkProcess = await desk.start(work);
    await process.transaction((queue) => queue.enqueue('t.outage', { id: 'outage' }));
    await gate.reached(1);
    await desk.outage(async () => {
      gate.open();
      await desk.logged('work waits for the database');
    });
    await desk.done('t.outage');
    expect(await desk.results('outage')).toEqual(['outage']);
    expect(gate.running.map(({ failures, crashes }) => [failures, crashes])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(work.givenUp).toEqual([]);
  });
});

describe('a breaker', () => {
  it('lets nothing through until it opens, then one item at a time, and all when it is closed', async () => {
    const probes: boolean[] = [];
    const work = kind(
      't.breaker',
      async (item) => {
        probes.push(item.probe);
        if (item.probe) await process.work.rescheduleWith(item, 0, []);
      },
      { perQueueEverywhere: 10 },
    );
    const process: WorkProcess = await desk.start(work);
    await process.transaction((queue) => queue.openBreaker('t.breaker', 'broken', 3_600_000));
    await desk.leave('t.breaker', 'broken', 5);
    await process.transaction((queue) => queue.enqueue('t.breaker', { id: 'other', queue: 'whole' }));
    process.notify('t.breaker', 'broken');
    await eventually(async () => probes.length > 0);
    expect(probes).toEqual([false]);

    for (let count = 2; count <= 3; count++) {
      await desk.rows(`update work_breakers set opens_at = now() where queue = 'broken'`);
      process.notify('t.breaker', 'broken');
      await eventually(async () => probes.length >= count);
      const [breaker] = await desk.rows<{ isOpen: boolean }>(
        `select opens_at > now() + interval '59 minutes' as "isOpen" from work_breakers where queue = 'broken'`,
      );
      expect(breaker).toEqual({ isOpen: true });
    }
    expect(probes).toEqual([false, true, true]);
    expect(await desk.items('t.breaker')).toHaveLength(5);

    await process.transaction((queue) => queue.closeBreaker('t.breaker', 'broken'));
    await desk.done('t.breaker');
    expect(probes.filter((probe) => !probe)).toHaveLength(6);
  });
});

describe('parking', () => {
  it('voids what is under way when all is parked, and brings everything back', async () => {
    const gate = new Gate();
    const work = kind(
      't.park',
      async (item, signal) => {
        await gate.pass(item, signal);
        await process.complete(item);
      },
      { perQueue: 1 },
    );
    const process: WorkProcess = await desk.start(work);
    await process.transaction((queue) => queue.enqueue('t.park', { id: 'park-1' }, { id: 'park-2' }));
    await gate.reached(1);
    await process.transaction((queue) => queue.parkAll(['t.park']));
    gate.open();
    await desk.logged('a late result was discarded');
    expect(await desk.results('park')).toEqual([]);
    expect(await desk.items('t.park')).toMatchObject([
      { isParked: true, claimed: false },
      { isParked: true, claimed: false },
    ]);
    await process.transaction((queue) => queue.unpark('t.park', ['park-2']));
    await eventually(async () => (await desk.results('park')).length > 0);
    expect(await desk.results('park')).toEqual(['park-2']);
    await process.transaction((queue) => queue.unparkAll(['t.park']));
    await desk.done('t.park');
    expect(await desk.results('park')).toEqual(['park-2', 'park-1']);
  });

  it('asks what is under way to stop, and lets it say how it ended, when only the rest is parked', async () => {
    const gate = new Gate();
    const work = kind(
      't.rest',
      async (item, signal) => {
        const aborted = once(signal, 'abort');
        await gate.pass(item, signal);
        await aborted;
        await process.complete(item);
      },
      { perQueue: 1 },
    );
    const process: WorkProcess = await desk.start(work);
    await process.transaction((queue) => queue.enqueue('t.rest', { id: 'rest-1' }, { id: 'rest-2' }));
    await gate.reached(1);
    const [{ id }] = gate.running as [WorkItem];
    await process.transaction((queue) => queue.parkUnclaimed(['t.rest']));
    gate.open();
    await eventually(async () => (await desk.results('rest')).length > 0);
    expect(await desk.results('rest')).toEqual([id]);
    expect(await desk.items('t.rest')).toMatchObject([{ isParked: true, claimed: false }]);
  });
});

describe('a process that is asked to end', () => {
  it('claims nothing more, and lets what is under way end', async () => {
    const gate = new Gate();
    const process: WorkProcess = await desk.start(
      kind(
        't.drain',
        async (item, signal) => {
          await gate.pass(item, signal);
          await process.complete(item);
        },
        { perQueue: 2 },
      ),
    );
    await process.transaction((work) =>
      work.enqueue('t.drain', { id: 'drain-1' }, { id: 'drain-2' }, { id: 'drain-3' }),
    );
    await gate.reached(2);
    const closed = process.close();
    gate.open();
    await closed;
    expect(await desk.results('drain')).toHaveLength(2);
    expect(await desk.items('t.drain')).toMatchObject([{ claimed: false, attempt: 0 }]);
  });
});
