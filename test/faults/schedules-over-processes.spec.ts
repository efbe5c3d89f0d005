import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../support/client.js';
import { type Service, type ServiceProcess, startService } from '../support/processes.js';
import { eventually } from '../support/test-app.js';
import { TestClock } from '../support/test-clock.js';
import { ZONES } from '../support/zones.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 365;
/** Due times are multiples of this, as all changes of clocks are. */
const TICK_MS = 15 * MINUTE_MS;
const LATE_MS = 15 * MINUTE_MS;
/** At which the clocks of some zone change, and at which they do not. */
const TIMES = ['00:00', '01:45', '02:30', '07:00', '23:45'];
/** What passes until the processes look again: minutes, hours, a day, and an outage of three days. */
const STEPS_MS = [0.25, 5, 9, 24, 26, 72, 72].map((hours) => hours * HOUR_MS);
const KILL_EVERY = 40;
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MEMO = 'File this memo for the board: The delivery delays end on Friday.';

interface Rule {
  every: string;
  on?: string | number;
  at: string;
  timezone: string;
}

let service: Service;
const clock = new TestClock();
beforeAll(async () => {
  service = await startService(3);
  // The clock of the database alone decides what is due: those of the processes stay behind by up to a year.
  await clock.share(service.database.owner, `faults-${process.pid}`);
}, 120_000);
afterAll(async () => {
  await service.close();
  clock.end();
});

/** A workspace whose capo is paused: what is handed in is not drafted, which is not what this is about. */
async function workspace() {
  const { workspaceId, token } = await service.createWorkspace('enterprise');
  await service.rows(`insert into paused_capos values ($1, 'capo_ops', '{}', now())`, [workspaceId]);
  const schedule = async (rule: Rule, missed: string) => {
    // From an address of its own each time.
    const client = new Client(service.processes.find(({ exited }) => !exited)!.url, token);
    const body = { name: 'Memo', directive: { text: MEMO, capo: 'capo_ops' }, rule, missed };
    const answer = await client.post('/schedules', body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body as { scheduleId: string; nextRunAt: number };
  };
  return { workspaceId, schedule };
}

async function dues(scheduleId: string): Promise<number[]> {
  const rows = await service.rows<{ due: Date }>(
    'select scheduled_for as due from directives where schedule_id = $1 order by scheduled_for',
    [scheduleId],
  );
  return rows.map(({ due }) => due.getTime());
}

/** Once nothing is due by the clock of the database. */
async function handled(seconds = 60): Promise<void> {
  await eventually(
    () =>
      service.rows<{ n: number }>(
        `select (select count(*) from schedules where next_run_at <= app.clock())::int
           + (select count(*) from work_items where kind = 'schedule.run')::int as n`,
      ),
    ([row]) => row!.n === 0,
    seconds,
  );
}

/** The same steps each time. */
function dice(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/**
 * The due times after one moment and up to another, from what a clock on the wall shows each quarter of an hour; no calendar of the
 * program takes part. A time counts when the clock shows it first; what a change skips, as if it had gone on.
 */
function duesShown({ every, on, at, timezone }: Rule, from: number, to: number): number[] {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' },
  });
  const shownAt = (moment: number) => {
    const parts = Object.fromEntries(
      format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]),
    );
    return Date.UTC(parts['year']!, parts['month']! - 1, parts['day'], parts['hour'], parts['minute']);
  };
  const isDue = (shown: number) => {
    const date = new Date(shown);
    if (date.toISOString().slice(11, 16) !== at) return false;
    if (every === 'week') return WEEKDAYS[date.getUTCDay()] === on;
    const lastOfMonth = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    return every === 'day' || date.getUTCDate() === Math.min(Number(on), lastOfMonth);
  };
  const all: number[] = [];
  let furthest = shownAt(from);
  for (let moment = from + TICK_MS; moment <= to; moment += TICK_MS) {
    const shown = shownAt(moment);
    for (let behind = 0; furthest < shown; behind += TICK_MS) {
      furthest += TICK_MS;
      if (isDue(furthest)) all.push(moment + behind);
    }
  }
  return all.filter((due) => due <= to);
}

describe('three processes', () => {
  it('run once or never what they missed while all of them were dead for three days', async () => {
    const { schedule } = await workspace();
    clock.stop(Date.parse('2026-11-23T12:00:00Z'));
    const rule = { every: 'day', at: '09:00', timezone: 'UTC' };
    const [once, skip] = [await schedule(rule, 'once'), await schedule(rule, 'skip')];
    const first = once.nextRunAt;
    clock.stop(first);
    await handled();
    for (const one of service.processes) await one.kill();
    clock.stop(first + 3 * DAY_MS + 4 * HOUR_MS);
    await Promise.all(service.processes.map(() => service.start()));
    await handled();
    expect(await dues(once.scheduleId)).toEqual([first, first + 3 * DAY_MS]);
    expect(await dues(skip.scheduleId)).toEqual([first]);
    clock.stop(first + 4 * DAY_MS);
    await handled();
    expect(await dues(once.scheduleId)).toEqual([0, 3, 4].map((days) => first + days * DAY_MS));
    expect(await dues(skip.scheduleId)).toEqual([0, 4].map((days) => first + days * DAY_MS));
  });

  it('run once what a process had handed in but not committed when it was killed', async () => {
    const { workspaceId, schedule } = await workspace();
    clock.stop(Date.parse('2026-12-23T12:00:00Z'));
    const { scheduleId, nextRunAt } = await schedule({ every: 'day', at: '09:00', timezone: 'UTC' }, 'once');
    const [claimer, ...others] = service.processes.filter(({ exited }) => !exited) as [
      ServiceProcess,
      ...ServiceProcess[],
    ];
    for (const one of others) one.signal('SIGSTOP');
    const holder = await service.database.owner.connect();
    try {
      // The head of the chain is locked last, when all rows are written.
      await holder.query('begin');
      await holder.query('select from receipt_heads where workspace_id = $1 for update', [workspaceId]);
      const pid = Number((await holder.query('select pg_backend_pid() as pid')).rows[0].pid);
      clock.stop(nextRunAt);
      await eventually(
        () =>
          service.rows('select 1 from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))', [pid]),
        ({ length }) => length > 0,
        30,
      );
      await claimer.kill();
    } finally {
      await holder.query('rollback');
      holder.release();
      for (const one of others) one.signal('SIGCONT');
    }
    await handled();
    expect(await dues(scheduleId)).toEqual([nextRunAt]);
    const ran = await service.rows(
      `select 1 from receipts where entity_id = $1 and action = 'schedule.ran'`,
      [scheduleId],
    );
    expect(ran).toHaveLength(1);
    await service.start();
  });

  it(
    `run each due time of ${DAYS} days in ${ZONES.length} zones exactly once`,
    { timeout: 14 * 60_000 },
    async () => {
      const begun = performance.now();
      const roll = dice(20_260_218);
      const first = Date.parse('2027-01-01T12:00:00Z');
      clock.stop(first);
      const made: { scheduleId: string; rule: Rule; missed: string; expected: number[] }[] = [];
      for (const [index, timezone] of ZONES.entries()) {
        const { schedule } = await workspace();
        const at = TIMES[index % TIMES.length]!;
        for (const [rule, missed] of [
          [{ every: 'day', at, timezone }, 'once'],
          [{ every: 'day', at, timezone }, 'skip'],
          [{ every: 'week', on: 'sun', at, timezone }, 'once'],
          [{ every: 'month', on: 31, at, timezone }, 'once'],
        ] as [Rule, string][]) {
          const { scheduleId } = await schedule(rule, missed);
          made.push({ scheduleId, rule, missed, expected: [] });
        }
      }
      const all = made.map(({ rule }) => duesShown(rule, first, first + (DAYS + 10) * DAY_MS));
      const running = service.processes.filter(({ exited }) => !exited);
      let steps = 0;
      let kills = 0;
      let victim = 0;
      for (let before = first; before < first + DAYS * DAY_MS; steps++) {
        const now = before + STEPS_MS[roll(STEPS_MS.length)]! + roll(4) * TICK_MS;
        for (const [n, { missed, expected }] of made.entries()) {
          const last = all[n]!.findLast((due) => due > before && due <= now);
          if (last !== undefined && (missed === 'once' || now - last <= LATE_MS)) expected.push(last);
        }
        clock.stop(now);
        before = now;
        if (steps % KILL_EVERY === KILL_EVERY - 1) {
          // In the middle of a step: what it has begun is left as it is.
          await pause(roll(900));
          await running[victim]!.kill();
          running[victim] = await service.start();
          victim = (victim + 1) % running.length;
          kills++;
        }
        await handled();
      }
      let directives = 0;
      for (const { scheduleId, rule, missed, expected } of made) {
        const what = JSON.stringify([rule, missed]);
        const iso = (times: number[]) => times.map((time) => new Date(time).toISOString());
        expect(iso(await dues(scheduleId)), what).toEqual(iso(expected));
        const told = await service.rows<{ due: string }>(
          `select body::jsonb->'details'->>'dueAt' as due from receipts
         where entity_id = $1 and action = 'schedule.ran'`,
          [scheduleId],
        );
        expect(
          told.map(({ due }) => Number(due)).toSorted((a, b) => a - b),
          what,
        ).toEqual(expected);
        directives += expected.length;
      }
      expect(kills).toBeGreaterThan(2);
      const seconds = Math.round((performance.now() - begun) / 1_000);
      console.log(
        `${directives} directives of ${made.length} schedules in ${steps} steps with ${kills} kills: ${seconds} s`,
      );
    },
  );
});
