import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUDGET_WINDOWS } from '../../src/features/standing-orders/standing-order.js';
import { startOfWindow } from '../../src/features/standing-orders/windows.js';
import { dayAfter, dayOf, startOf } from '../../src/platform/kernel/local-day.js';
import { newId } from '../../src/platform/kernel/ids.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { ZONES } from '../support/zones.js';

const HOUR_MS = 3_600_000;
const FROM = Temporal.Instant.from('2006-01-01T00:00Z');
/** Program and database bring their own lists of changes; what governments decided later may stand in one of them alone. */
const TO = Date.UTC(2026, 0, 1);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const rowsOf = async <T>(sql: string, values: unknown[]) =>
  (await database.owner.query(sql, values)).rows as T[];

/** Every half hour around each change of a zone's clock, a moment before it, and the day after. */
function momentsOf(zone: string): number[] {
  const moments: number[] = [];
  let change = FROM.toZonedDateTimeISO(zone).getTimeZoneTransition('next');
  for (; change && change.epochMilliseconds < TO; change = change.getTimeZoneTransition('next')) {
    const at = change.epochMilliseconds;
    for (let by = -4 * HOUR_MS; by <= 4 * HOUR_MS; by += HOUR_MS / 2) moments.push(at + by);
    moments.push(at - 1, at + 15 * 60_000, at + 26 * HOUR_MS);
  }
  // In a zone whose clock never changes there are days, too.
  return moments.length > 0 ? moments : Array.from({ length: 60 }, (_, n) => TO - n * 13 * HOUR_MS);
}

interface DayRow {
  day: string;
  start: Date;
  next: Date;
  windows: Date[];
}

const timesOf = (...times: Date[]) => times.map((time) => time.getTime());

describe('the days of the database', () => {
  it.each([...ZONES, 'Antarctica/Casey', 'Asia/Colombo'])('are those of the program in %s', async (zone) => {
    const moments = momentsOf(zone);
    const rows = await rowsOf<DayRow>(
      `select to_char(day, 'YYYY-MM-DD') as day, app.day_start(day, $1) as start, app.day_start(day + 1, $1) as next,
         array(select app.window_start(w, at, $1) from unnest($3::text[]) w) as windows
       from (select t.at, t.n, app.day_of(t.at, $1) as day from unnest($2::timestamptz[]) with ordinality as t (at, n)) d
       order by n`,
      [zone, moments.map((at) => new Date(at)), BUDGET_WINDOWS],
    );
    const told = rows.map(({ day, start, next, windows }) =>
      [day, ...timesOf(start, next, ...windows)].join(' '),
    );
    const differing = moments.flatMap((at, n) => {
      const day = dayOf(at, zone);
      const windows = BUDGET_WINDOWS.map((window) => startOfWindow(window, at, zone));
      const own = [day, startOf(day, zone), startOf(dayAfter(day, zone), zone), ...windows].join(' ');
      return own === told[n] ? [] : [`${new Date(at).toISOString()}: ${told[n]}, and not ${own}`];
    });
    expect(differing).toEqual([]);
  });
});

describe('the day of a budget for models', () => {
  const reserved = async (zone: string, at: string) => {
    const workspaceId = newId('wks');
    await rowsOf('insert into workspaces (workspace_id, name, tier, timezone) values ($1, $2, $3, $4)', [
      workspaceId,
      'Northwind',
      'pro',
      zone,
    ]);
    const [row] = await rowsOf<{ day: string; nextDayAt: Date }>(
      `select day::text, next_day_at as "nextDayAt" from app.reserve_model_usage($1, $2, 'amount', $3, 1, 1, $2)`,
      [workspaceId, new Date(at), { free: 1, pro: 10, enterprise: 100 }],
    );
    return [row!.day, row!.nextDayAt.toISOString()];
  };

  it.each([
    ['UTC', '2026-05-14T12:00:00Z', '2026-05-14', '2026-05-15T00:00:00.000Z'],
    // Midnight comes twice: it goes on at the first.
    ['America/Havana', '2026-10-31T12:00:00Z', '2026-10-31', '2026-11-01T04:00:00.000Z'],
    ['Africa/Cairo', '2026-04-23T12:00:00Z', '2026-04-23', '2026-04-23T22:00:00.000Z'],
    // The clock was set back to 23:01: the budget of the day before is not there again.
    ['America/St_Johns', '2010-11-07T02:45:00Z', '2010-11-07', '2010-11-08T03:30:00.000Z'],
    ['Pacific/Apia', '2011-12-30T09:00:00Z', '2011-12-29', '2011-12-30T10:00:00.000Z'],
  ])('in %s at %s is %s and ends at %s', async (zone, at, day, end) => {
    expect(await reserved(zone, at)).toEqual([day, end]);
  });
});
