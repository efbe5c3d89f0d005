import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayAfter, dayBefore, dayOf } from '../../src/platform/kernel/local-day.js';
import { Client } from '../support/client.js';
import { type Service, type ServiceProcess, startService } from '../support/processes.js';
import { eventually } from '../support/test-app.js';
import { leaveReport } from '../e2e/reports/report-rows.js';

/** As many as are made up for after an outage. */
const DAYS = 31;
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
];

let service: Service;
beforeAll(async () => {
  service = await startService(3);
}, 120_000);
afterAll(() => service.close());

describe('three processes', () => {
  it('make one report for each day of each workspace, while people ask for the same days', async () => {
    const workspaces = await Promise.all(
      ZONES.map(async (zone) => ({ zone, ...(await service.createWorkspace('enterprise')) })),
    );
    for (const { zone, workspaceId } of workspaces) {
      await service.rows(
        `update workspaces set timezone = $2, created_at = now() - interval '60 days' where workspace_id = $1`,
        [workspaceId, zone],
      );
    }
    const due = `update report_configs set time = '00:00', due_at = now(), last_date = $2 where workspace_id = $1`;
    await Promise.all(workspaces.map(({ workspaceId }) => service.rows(due, [workspaceId, '2000-01-01'])));
    const asked = workspaces.flatMap(({ token, zone }) =>
      service.processes.map(async ({ url }) => {
        let date = dayOf(Date.now(), zone);
        for (let back = 0; back < 3; back++) date = dayBefore(date, zone);
        const { status, body } = await new Client(url, token).get(`/reports/daily?date=${date}`);
        return { status, reportId: body.reportId as string };
      }),
    );
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ reportId }) => reportId)).size).toBe(ZONES.length);
    for (const { zone, workspaceId } of workspaces) {
      const dates = await eventually(
        () =>
          service.rows<{ date: string; from_seq: string; to_seq: string }>(
            'select date, from_seq, to_seq from reports where workspace_id = $1 order by date',
            [workspaceId],
          ),
        ({ length }) => length >= DAYS,
        60,
      );
      expect(dates).toHaveLength(DAYS);
      let day = dates[0]!.date;
      for (const [n, one] of dates.entries()) {
        expect(one.date, zone).toBe(day);
        if (n > 0) expect(Number(one.from_seq)).toBe(Number(dates[n - 1]!.to_seq) + 1);
        day = dayAfter(day, zone);
      }
      const [row] = await service.rows<{ made: number; told: number }>(
        `select count(*)::int as made, count(distinct body::jsonb->'details'->>'date')::int as told from receipts
         where workspace_id = $1 and action = 'report.generated'`,
        [workspaceId],
      );
      expect(row).toEqual({ made: DAYS, told: DAYS });
    }
  }, 180_000);

  it('make what the process has left behind that was making it when it was killed', async () => {
    const { workspaceId } = await service.createWorkspace('enterprise');
    await service.rows(
      `update workspaces set created_at = now() - interval '60 days' where workspace_id = $1`,
      [workspaceId],
    );
    const made = () => service.rows('select 1 from reports where workspace_id = $1', [workspaceId]);
    let day = dayOf(Date.now(), 'UTC');
    for (let back = 0; back < DAYS / 2; back++) day = dayBefore(day, 'UTC');
    // Only one process is awake to claim the work. It comes as far as this day, whose report another transaction has added.
    const [claimer, ...others] = service.processes as [ServiceProcess, ...ServiceProcess[]];
    for (const one of others) one.signal('SIGSTOP');
    const other = await service.database.owner.connect();
    try {
      await other.query('begin');
      await leaveReport(async (sql, values) => (await other.query(sql, values)).rows, workspaceId, day);
      const pid = Number((await other.query('select pg_backend_pid() as pid')).rows[0].pid);
      await service.rows(
        `update report_configs set time = '00:00', due_at = now(), last_date = '2000-01-01' where workspace_id = $1`,
        [workspaceId],
      );
      const waiting = () =>
        service.rows('select 1 from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))', [pid]);
      await eventually(waiting, ({ length }) => length > 0, 30);
      const before = (await made()).length;
      expect(before).toBeGreaterThan(0);
      expect(before).toBeLessThan(DAYS);
      await claimer.kill();
    } finally {
      await other.query('rollback');
      other.release();
      for (const one of others) one.signal('SIGCONT');
    }
    await eventually(made, ({ length }) => length === DAYS, 60);
    const [row] = await service.rows<{ made: number }>(
      `select count(*)::int as made from receipts where workspace_id = $1 and action = 'report.generated'`,
      [workspaceId],
    );
    expect(row!.made).toBe(DAYS);
  }, 120_000);
});
