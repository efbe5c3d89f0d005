import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/platform/kernel/ids.js';
import { ZONES } from '../support/zones.js';
import { type Service, type ServiceProcess, startService } from '../support/processes.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 365;
/** At which the clocks of some zone change, and at which they do not. */
const TIMES = ['00:00', '01:45', '02:30', '07:00', '23:59'];
/** What passes until the processes look again: hours, a day, and an outage of three days. */
const STEPS_MS = [5, 9, 24, 26, 72, 72].map((hours) => hours * HOUR_MS);
/** The clocks of the processes differ. */
const SKEWS_MS = ['0', '-90000', '90000'];
const KILL_EVERY = 40;
const CLOCK = new URL('../support/shifted-clock.mjs', import.meta.url).href;

let folder: string;
let clockFile: string;
let service: Service;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consigliere-clock-'));
  clockFile = join(folder, 'shift');
  await writeFile(clockFile, '0');
  service = await startService(1, clockOf(0));
  for (const skew of [1, 2]) await service.start(clockOf(skew));
}, 120_000);
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

function clockOf(skew: number): Record<string, string> {
  return { NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_FILE: clockFile, CLOCK_SKEW_MS: SKEWS_MS[skew]! };
}

/** The same steps each time. */
function dice(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** The days that a clock on the wall shows between two moments, hour by hour: no calendar of the program takes part. */
function daysShown(zone: string, from: number, to: number): string[] {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const days = new Set<string>();
  for (let at = from; at <= to; at += HOUR_MS / 4) days.add(format.format(at));
  return [...days];
}

describe(`three processes through ${DAYS} days in ${ZONES.length} zones`, () => {
  it('make exactly one report for each day of each workspace', { timeout: 14 * 60_000 }, async () => {
    const begun = performance.now();
    const roll = dice(20_260_218);
    // Ahead, since what lies behind the time of the database is due at once.
    const [first, last] = [Date.now(), Date.now() + DAYS * DAY_MS];
    let at = first;
    const setClock = async () => {
      await writeFile(clockFile, String(at - Date.now()));
      await pause(60);
    };
    await setClock();
    const workspaces = await Promise.all(
      ZONES.map(async (zone, index) => {
        const { workspaceId } = await service.createWorkspace('enterprise');
        await service.rows(
          `update workspaces set timezone = $2, created_at = now() - interval '900 days' where workspace_id = $1`,
          [workspaceId, zone],
        );
        const time = TIMES[index % TIMES.length]!;
        await service.rows(
          `update report_configs set time = $2, due_at = 'infinity', last_date = null where workspace_id = $1`,
          [workspaceId, time],
        );
        // An event that nobody wants is not kept. A destination whose breaker is open wants it, and nothing is sent there.
        const destinationId = newId('whk');
        await service.rows(
          `insert into webhook_destinations (destination_id, workspace_id, description, url, events, status, api_version,
             sealed_secret, created_by, created_at)
           values ($2, $1, 'Nobody', 'https://nobody.example/', '{report.daily}', 'paused', '2026-04', 'none', '{}', now())`,
          [workspaceId, destinationId],
        );
        await service.rows(
          `insert into work_breakers (kind, queue, workspace_id, opens_at, retry_every)
           values ('webhook.deliver', $2, $1, 'infinity', '1 hour')`,
          [workspaceId, destinationId],
        );
        return { workspaceId, zone, time };
      }),
    );
    const ids = workspaces.map(({ workspaceId }) => workspaceId);
    const look = async () => {
      await service.rows(`update report_configs set due_at = now() where workspace_id = any($1)`, [ids]);
      for (;;) {
        const [row] = await service.rows<{ n: number }>(
          `select (select count(*) from report_configs where workspace_id = any($1) and due_at <= now())::int
             + (select count(*) from work_items where kind in ('report.schedule', 'report.deliver')
                 and workspace_id = any($1))::int as n`,
          [ids],
        );
        if (row!.n === 0) return;
        await pause(50);
      }
    };
    await look();

    let steps = 0;
    let kills = 0;
    let victim = 0;
    const running: ServiceProcess[] = [...service.processes];
    for (; at < last; steps++) {
      at = Math.min(last, at + STEPS_MS[roll(STEPS_MS.length)]! + roll(HOUR_MS));
      await setClock();
      if (steps % KILL_EVERY === KILL_EVERY - 1) {
        // In the middle of a step: what it has begun is left as it is.
        const looked = look();
        await pause(roll(400));
        await running[victim]!.kill();
        running[victim] = await service.start(clockOf(victim));
        victim = (victim + 1) % running.length;
        kills++;
        await looked;
      } else await look();
    }
    // Clocks that are behind have come to see the last day, too.
    at += 120_000;
    await setClock();
    await look();

    let reports = 0;
    for (const { workspaceId, zone, time } of workspaces) {
      const where = `${zone} at ${time}`;
      const rows = await service.rows<{ date: string; from_seq: string; to_seq: string; announced: boolean }>(
        `select date, from_seq, to_seq, announced_at is not null as announced from reports where workspace_id = $1 order by date`,
        [workspaceId],
      );
      const shown = daysShown(zone, first, at);
      // The first report is of the day on which it was first looked at, and the last of the day before the last or the one before that.
      const dates = rows.map(({ date }) => date);
      expect(dates, where).toEqual(shown.slice(0, dates.length));
      expect(shown.length - dates.length, where).toBeLessThanOrEqual(2);
      expect(dates.length, where).toBeGreaterThanOrEqual(DAYS - 2);
      for (const [n, row] of rows.entries())
        if (n > 0) expect(Number(row.from_seq), where).toBe(Number(rows[n - 1]!.to_seq) + 1);
      expect(
        rows.every(({ announced }) => announced),
        where,
      ).toBe(true);
      const told = await service.rows<{ date: string }>(
        `select body::jsonb->'details'->>'date' as date from receipts
         where workspace_id = $1 and action = 'report.generated' order by 1`,
        [workspaceId],
      );
      expect(
        told.map(({ date }) => date),
        where,
      ).toEqual(dates);
      const events = await service.rows<{ date: string }>(
        `select body::jsonb->'payload'->>'date' as date from webhook_events
         where workspace_id = $1 and event = 'report.daily' order by 1`,
        [workspaceId],
      );
      expect(
        events.map(({ date }) => date),
        where,
      ).toEqual(dates);
      reports += dates.length;
    }
    expect(kills).toBeGreaterThan(2);
    const seconds = Math.round((performance.now() - begun) / 1_000);
    console.log(`${reports} reports in ${steps} steps with ${kills} kills: ${seconds} s`);
  });
});
