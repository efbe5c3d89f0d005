import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { FullCount, type Whose } from './full-count.js';
import { countedOf, KpiRows } from './kpi-rows.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A workspace with two teams, and somebody of each kind who reads its numbers. */
async function prepare(zone: string) {
  const { workspaceId, owner } = await test.createWorkspace();
  const kpi = new KpiRows(test.rows, workspaceId);
  await kpi.setZone(zone);
  const [one, two] = [await test.createTeam(workspaceId, 'One'), await test.createTeam(workspaceId, 'Two')];
  const readers: [string, Client, string, Whose][] = [
    ['the owner', owner, '/kpi', 'all'],
    ['the owner, of one team', owner, `/kpi?teamId=${one}`, [one]],
    ['a member of one team', await test.createMember(workspaceId, 'viewer', [one]), '/kpi', [one]],
    ['a member of two teams', await test.createMember(workspaceId, 'viewer', [one, two]), '/kpi', [one, two]],
    ['a member of no team', await test.createMember(workspaceId, 'viewer'), '/kpi', []],
  ];
  const expectCounted = async (at: number) => {
    test.clock.stop(at);
    for (const [who, reader, path, whose] of readers) {
      const { status, body } = await reader.get(path);
      expect(status, JSON.stringify(body)).toBe(200);
      const counted = await new FullCount(test.rows, workspaceId, whose).at(at);
      expect(countedOf(body), `${who}, ${zone}, ${new Date(at).toISOString()}`).toEqual(counted);
    }
  };
  return { kpi, teams: [null, one, two], expectCounted };
}

type Act = { what: number; ago: number; team: number; number: number; also: boolean };
const ACTS = fc.array(
  fc.record<Act>({
    what: fc.integer({ min: 0, max: 14 }),
    // To the second, so that many lie right at the borders of days.
    ago: fc.oneof(
      fc.integer({ min: 0, max: 65 * 86_400 }),
      fc
        .tuple(fc.integer({ min: 0, max: 65 }), fc.integer({ min: -1_800, max: 1_800 }))
        .map(([days, seconds]) => Math.max(0, days * 86_400 + seconds)),
    ),
    team: fc.integer({ min: 0, max: 2 }),
    number: fc.integer({ min: 1, max: 99_999 }),
    also: fc.boolean(),
  }),
  { minLength: 60, maxLength: 140 },
);

/** Rows of acts in any order, some added up and some not; what was is changed again. */
async function carryOut(
  acts: readonly Act[],
  now: number,
  { kpi, teams }: Awaited<ReturnType<typeof prepare>>,
) {
  const packets: string[] = [];
  const executed: string[] = [];
  const approvals: { id: string; at: number }[] = [];
  const directives: string[] = [];
  const unstarted: { id: string; at: number }[] = [];
  for (const { what, ago, team, number, also } of acts) {
    const at = now - ago * 1000;
    const teamId = teams[team]!;
    const currency = also ? 'USD' : 'EUR';
    if (what <= 1) await kpi.revenue(at, number / 100, currency, teamId);
    else if (what === 2) await kpi.revenue(at, -number / 100, 'USD', teamId);
    else if (what === 3) directives.push(await kpi.directive(at, number / 1_000_000, currency, teamId));
    else if (what === 4 && directives.length > 0)
      await kpi.charge(directives[number % directives.length]!, number / 10_000);
    else if (what === 5) packets.push(await kpi.packet(teamId));
    else if (what === 6 && packets.length > 0) {
      const [packet] = packets.splice(number % packets.length, 1);
      await kpi.execute(packet!, at);
      executed.push(packet!);
    } else if (what === 7 && executed.length > 0) await kpi.undo(executed.pop()!);
    else if (what === 8) approvals.push({ id: await kpi.approval(at, teamId), at });
    else if (what === 9 && approvals.length > 0) {
      const [{ id, at: from }] = approvals.splice(number % approvals.length, 1) as [
        { id: string; at: number },
      ];
      await kpi.decide(
        id,
        from + Math.floor((now - from) * (number / 100_000)),
        also ? 'approved' : 'expired',
      );
    } else if (what === 10) await kpi.evalRun(at, also, teamId);
    else if (what === 11 && number % 5 === 0) await kpi.move(teamId, teams[(team + 1) % 3]!);
    else if (what === 12) await kpi.modelCharge(at, number / 1_000_000, currency);
    else if (what === 13)
      unstarted.push({ id: await kpi.unstarted(at, number / 1_000_000, currency, teamId), at });
    else if (what === 14 && unstarted.length > 0) {
      const { id, at: from } = unstarted.pop()!;
      await kpi.begin(id, from + Math.floor((now - from) * (number / 100_000)));
    }
    if (number % 7 === 0) await kpi.fold(1 + (number % 40));
  }
}

/**
 * Zones of half and quarter hours, and days of 23, 23.5, 24.5 and 25 hours within the thirty that are shown. Years ahead, since
 * figures are deleted 100 days after their time by the clock of the database.
 */
const CASES: [zone: string, now: string][] = [
  ['UTC', '2036-05-15T12:34:56.789Z'],
  ['Asia/Kolkata', '2036-05-15T18:29:59.999Z'],
  ['Asia/Kolkata', '2036-05-15T18:30:00.000Z'],
  ['Asia/Kathmandu', '2036-05-15T18:14:59.999Z'],
  ['Asia/Kathmandu', '2036-05-15T18:15:00.000Z'],
  ['Australia/Lord_Howe', '2036-04-15T03:00:00.000Z'],
  ['Australia/Lord_Howe', '2036-10-14T03:00:00.000Z'],
  ['Europe/Berlin', '2036-04-04T09:00:00.000Z'],
  ['Europe/Berlin', '2036-11-03T00:10:00.000Z'],
  ['America/St_Johns', '2036-03-10T22:40:00.000Z'],
  ['Pacific/Chatham', '2036-04-10T11:20:00.000Z'],
  ['Pacific/Kiritimati', '2036-05-18T10:01:00.000Z'],
];

describe('GET /kpi 200', () => {
  it.each(CASES)(
    'is what counting every row gives, in %s at %s',
    { timeout: 120_000 },
    async (zone, time) => {
      const now = Date.parse(time);
      await fc.assert(
        fc.asyncProperty(ACTS, async (acts) => {
          const prepared = await prepare(zone);
          const { expectCounted } = prepared;
          await carryOut(acts, now, prepared);
          await expectCounted(now);
          await prepared.kpi.fold();
          await expectCounted(now);
        }),
        { numRuns: 3, interruptAfterTimeLimit: 100_000 },
      );
    },
  );

  it('counts the days of another zone as soon as the workspace is in one', { timeout: 60_000 }, async () => {
    const now = Date.parse('2036-04-13T03:00:00.000Z');
    const prepared = await prepare('UTC');
    const { expectCounted } = prepared;
    await carryOut(fc.sample(ACTS, { numRuns: 1, seed: 7 })[0]!, now, prepared);
    for (const zone of ['UTC', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Tokyo']) {
      await prepared.kpi.setZone(zone);
      await expectCounted(now);
    }
  });

  it(
    'puts what happens on both sides of each midnight of 30 days on its day',
    { timeout: 60_000 },
    async () => {
      const now = Date.parse('2036-04-13T03:00:00.000Z');
      for (const zone of ['Asia/Kathmandu', 'Australia/Lord_Howe', 'Asia/Kolkata', 'Europe/Berlin']) {
        const prepared = await prepare(zone);
        const { expectCounted } = prepared;
        const starts = await test.rows<{ at: Date }>(
          `select (d::timestamp at time zone $1) as at
         from generate_series(date '2036-03-13', date '2036-04-13', interval '1 day') d`,
          [zone],
        );
        for (const [index, { at }] of starts.entries()) {
          await prepared.kpi.revenue(at.getTime() - 1, 1 + index);
          await prepared.kpi.revenue(at.getTime(), 100 + index);
        }
        await expectCounted(now);
        await prepared.kpi.fold();
        await expectCounted(now);
      }
    },
  );

  it('is the same after the tallies were made again from the rows', { timeout: 60_000 }, async () => {
    // What is made again reaches 100 days back from the clock of the database.
    const now = Date.now();
    const prepared = await prepare('Asia/Kolkata');
    const { expectCounted } = prepared;
    await carryOut(fc.sample(ACTS, { numRuns: 1, seed: 11 })[0]!, now, prepared);
    await test.rows('select app.recount_tallies()');
    await expectCounted(now);
    await prepared.kpi.revenue(now - 3 * DAY_MS, 12.5);
    await prepared.kpi.fold();
    await expectCounted(now);
  });
});
