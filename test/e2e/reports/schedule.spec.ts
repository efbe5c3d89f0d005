import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countReport } from '../../../src/features/verifier/report-proof.js';
import { receiptsIn } from '../../../src/features/verifier/verifier.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { ReportDesk } from './report-desk.js';

let receiver: EventReceiver;
let test: TestApp;
beforeAll(async () => {
  receiver = await startEventReceiver();
  test = await startTestApp({ OUTBOUND_ALLOW: receiver.hostPort });
  const noon = new Date(test.clock.now());
  noon.setUTCHours(12, 0, 0, 0);
  test.clock.advance(noon.getTime() - test.clock.now());
});
afterAll(async () => {
  await test.close();
  await receiver.close();
});

const pairs = (reports: readonly { date: string; trigger: string }[]) =>
  reports.map(({ date, trigger }) => `${date} ${trigger}`);

describe('the schedule', () => {
  it('makes nothing on the first day of a workspace, and its first report the day after', async () => {
    const desk = await ReportDesk.open(test, { days: 0 });
    const config = () =>
      test.rows<{ last_date: string | null }>(
        'select last_date from report_configs where workspace_id = $1',
        [desk.workspaceId],
      );
    await eventually(config, ([row]) => row!.last_date !== null);
    const [{ last_date }] = (await config()) as [{ last_date: string }];
    expect(last_date).toBe(desk.day(1));
    expect(await desk.reports()).toEqual([]);
  });

  it('makes up after an outage of three days, each day once, without a gap between their receipts', async () => {
    const desk = await ReportDesk.open(test);
    await desk.owner.post('/revenue-events', { amount: 5, currency: 'USD', source: 'fair' });
    await desk.look(desk.day(4));
    const reports = await desk.scheduled(3);
    expect(pairs(reports)).toEqual([3, 2, 1].map((back) => `${desk.day(back)} schedule`));
    // It is looked at again, by whatever process, and nothing more comes of it.
    await desk.look();
    await eventually(
      () =>
        test.rows(`select 1 from report_configs where workspace_id = $1 and due_at <= now()`, [
          desk.workspaceId,
        ]),
      (due) => due.length === 0,
    );
    expect(await desk.reports()).toHaveLength(3);
    expect(await desk.actions('report.generated')).toHaveLength(3);
    const ranges = await test.rows<{ from_seq: string; to_seq: string }>(
      'select from_seq, to_seq from reports where workspace_id = $1 order by date',
      [desk.workspaceId],
    );
    for (const [n, { from_seq }] of ranges.entries()) {
      if (n > 0) expect(Number(from_seq)).toBe(Number(ranges[n - 1]!.to_seq) + 1);
    }
  });

  it('makes none of the days that are to be asked for, and none that were passed over when it is daily again', async () => {
    const desk = await ReportDesk.open(test);
    await desk.owner.put('/reports/config', { schedule: 'on-demand' });
    await desk.look(desk.day(4));
    await desk.owner.put('/reports/config', { schedule: 'daily' });
    await eventually(
      () =>
        test.rows(`select 1 from report_configs where workspace_id = $1 and due_at <= now()`, [
          desk.workspaceId,
        ]),
      (due) => due.length === 0,
    );
    expect(await desk.reports()).toEqual([]);
  });

  it('is looked at again when the zone changes', async () => {
    const desk = await ReportDesk.open(test);
    await desk.look(desk.day(2));
    await desk.scheduled(1);
    // There it is tomorrow already, and past seven.
    test.clock.advance(8 * 3_600_000);
    await desk.owner.put('/settings', { timezone: 'Pacific/Kiritimati' });
    const reports = await desk.scheduled(2);
    expect(reports.map(({ date }) => date)).toEqual([desk.day(1), desk.day(0)]);
    test.clock.advance(-8 * 3_600_000);
  });

  it('reports the hours that a change of zone westward adds to the first day', async () => {
    test.clock.advance(8 * 3_600_000);
    const desk = await ReportDesk.open(test, { zone: 'Asia/Tokyo', days: 0 });
    const [today, tomorrow] = [desk.day(0), desk.day(-1)];
    await test.rows('update workspaces set created_at = $2 where workspace_id = $1', [
      desk.workspaceId,
      new Date(test.clock.now()),
    ]);
    // There it is tomorrow already, so the schedule begins with that day.
    await test.rows('update report_configs set due_at = now(), last_date = null where workspace_id = $1', [
      desk.workspaceId,
    ]);
    await eventually(
      () => test.rows('select last_date from report_configs where workspace_id = $1', [desk.workspaceId]),
      ([row]) => row!['last_date'] === today,
    );
    await desk.owner.put('/settings', { timezone: 'America/Los_Angeles' });
    await desk.owner.post('/revenue-events', { amount: 5, currency: 'USD', source: 'fair' });
    const { nextReportAt } = (await desk.owner.get('/reports/config')).body;
    expect(nextReportAt).toMatch(new RegExp(`^${tomorrow}T1[45]:00`));
    test.clock.advance(24 * 3_600_000);
    await desk.look();
    expect(pairs(await desk.scheduled(1))).toEqual([`${today} schedule`]);
    expect((await desk.daily(today)).body.sections.revenue.total).toBe(5);
    test.clock.advance(24 * 3_600_000);
    await desk.look();
    await desk.scheduled(2);
    const [first, second] = await test.rows<{ from_seq: string; to_seq: string }>(
      'select from_seq, to_seq from reports where workspace_id = $1 order by date',
      [desk.workspaceId],
    );
    expect([Number(first!.from_seq), Number(second!.from_seq)]).toEqual([1, Number(first!.to_seq) + 1]);
    test.clock.advance(-56 * 3_600_000);
  });

  it('joins the reports before and after a change of zone westward', async () => {
    // There it is tomorrow already, and past seven.
    test.clock.advance(8 * 3_600_000);
    const desk = await ReportDesk.open(test, { zone: 'Pacific/Kiritimati' });
    await desk.look(desk.day(1));
    await desk.scheduled(1);
    await desk.owner.put('/settings', { timezone: 'Pacific/Pago_Pago' });
    await desk.owner.post('/revenue-events', { amount: 7, currency: 'USD', source: 'fair' });
    test.clock.advance(48 * 3_600_000);
    await desk.look();
    const reports = await desk.scheduled(2);
    expect(reports.map(({ date }) => date)).toEqual([desk.day(2), desk.day(1)]);
    const revenue = await Promise.all(
      reports.map(async ({ date }) => (await desk.daily(date)).body.sections.revenue.total),
    );
    expect(revenue).toEqual([0, 7]);
    test.clock.advance(-56 * 3_600_000);
  });

  it('tells subscribers of each report once', async () => {
    const desk = await ReportDesk.open(test);
    const subscribed = await desk.owner.post('/webhooks', {
      event: 'report.daily',
      url: receiver.url,
      secret: 'a secret of Acme 2026',
    });
    expect(subscribed.status).toBe(201);
    await desk.look(desk.day(3));
    await desk.scheduled(2);
    const told = await eventually(
      async () => receiver.received.filter(({ headers }) => headers['x-service-event'] === 'report.daily'),
      ({ length }) => length === 2,
    );
    const events = told.map(({ body }) => JSON.parse(body.toString()));
    expect(events.map(({ payload }) => payload.date).toSorted()).toEqual([desk.day(2), desk.day(1)]);
    for (const { payload, workspaceId } of events) {
      expect(workspaceId).toBe(desk.workspaceId);
      const { body } = await desk.daily(payload.date);
      expect(payload).toEqual({
        reportId: body.reportId,
        date: body.date,
        headline: body.headline,
        url: `${test.url}/overview?view=boss&date=${body.date}`,
        receiptHead: { seq: expect.any(Number), hash: expect.any(String) },
      });
    }
  });

  it('keeps what somebody asked for before as the report of the day, and tells of it', async () => {
    const desk = await ReportDesk.open(test);
    await desk.daily(desk.day(2));
    await desk.look(desk.day(3));
    const reports = await desk.scheduled(2);
    expect(pairs(reports)).toEqual([`${desk.day(2)} schedule`, `${desk.day(1)} schedule`]);
    await eventually(
      () =>
        test.rows('select 1 from reports where workspace_id = $1 and announced_at is not null', [
          desk.workspaceId,
        ]),
      ({ length }) => length === 2,
    );
  });

  it('makes the days itself that an outage has left to it, whoever asks for them before', async () => {
    const desk = await ReportDesk.open(test);
    await test.rows(`update report_configs set due_at = 'infinity', last_date = $2 where workspace_id = $1`, [
      desk.workspaceId,
      desk.day(4),
    ]);
    expect((await desk.daily(desk.day(3))).body).toMatchObject({ date: desk.day(3), partial: true });
    expect(await desk.reports()).toEqual([]);
    await desk.look();
    expect(pairs(await desk.scheduled(3))).toEqual([3, 2, 1].map((back) => `${desk.day(back)} schedule`));
    expect((await desk.daily(desk.day(3))).body).toMatchObject({ partial: false });
  });

  it('is not pre-empted by whoever asks before the time has come', async () => {
    const desk = await ReportDesk.open(test);
    await desk.owner.put('/reports/config', { delivery: { time: '23:00' } });
    const early = await desk.daily(desk.day(1));
    expect(early.body).toMatchObject({ partial: true, date: desk.day(1) });
    expect(await desk.reports()).toEqual([]);
    test.clock.advance(11.5 * 3_600_000);
    await desk.look(desk.day(2));
    const [report] = await desk.scheduled(1);
    expect(report).toMatchObject({ trigger: 'schedule', report_id: early.body.reportId });
    // What was saved before the report was made is no forgery of it.
    await desk.owner.post('/revenue-events', { amount: 5, currency: 'USD', source: 'fair' });
    const { text } = await desk.owner.get('/audit-feed?format=jsonl');
    const exported = await receiptsIn(Readable.from([Buffer.from(text)]));
    expect(countReport(exported, early.body, desk.workspaceId).differences).toEqual([]);
    test.clock.advance(-11.5 * 3_600_000);
  });
});

describe('the nights in which clocks change (QUALITY, Daylight saving)', () => {
  /** Looks once more, and answers the reports there are then. */
  async function looked(desk: ReportDesk, at: string) {
    test.clock.stop(Date.parse(at));
    await test.rows(`update report_configs set due_at = '2000-01-01Z' where workspace_id = $1`, [
      desk.workspaceId,
    ]);
    await eventually(
      () =>
        test.rows(
          `select 1 from report_configs where workspace_id = $1 and due_at > '2000-01-02Z'
             and not exists (select from work_items where kind = 'report.schedule' and id = $1 and claimed)`,
          [desk.workspaceId],
        ),
      ({ length }) => length === 1,
    );
    return (await desk.reports()).map(({ date }) => date);
  }

  it.each([
    ['02:30 is skipped in Europe/Berlin', 'Europe/Berlin', '02:30', '2027-03-27', '2027-03-28T01:30:00Z'],
    ['02:30 comes twice in Europe/Berlin', 'Europe/Berlin', '02:30', '2026-10-24', '2026-10-25T00:30:00Z'],
    ['01:45 comes twice on Lord Howe', 'Australia/Lord_Howe', '01:45', '2027-04-03', '2027-04-03T14:45:00Z'],
    ['midnight is skipped in Cairo', 'Africa/Cairo', '00:00', '2027-04-29', '2027-04-29T22:00:00Z'],
    ['midnight is skipped in Havana', 'America/Havana', '00:00', '2027-03-13', '2027-03-14T05:00:00Z'],
    ['midnight is skipped in Santiago', 'America/Santiago', '00:00', '2027-09-04', '2027-09-05T04:00:00Z'],
  ])('%s: one report, at its time', async (_night, timezone, time, date, at) => {
    const desk = await ReportDesk.open(test, { zone: timezone, days: 90 });
    await desk.owner.put('/reports/config', { delivery: { time } });
    const eve = new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10);
    await test.rows('update report_configs set last_date = $2 where workspace_id = $1', [
      desk.workspaceId,
      eve,
    ]);
    const after = (ms: number) => new Date(Date.parse(at) + ms).toISOString();
    expect(await looked(desk, after(-1_000))).toEqual([]);
    expect(await looked(desk, after(0))).toEqual([date]);
    for (const minutes of [30, 61, 600]) expect(await looked(desk, after(minutes * 60_000))).toEqual([date]);
    expect(await desk.actions('report.generated')).toHaveLength(1);
    test.clock.goOn();
  });
});
