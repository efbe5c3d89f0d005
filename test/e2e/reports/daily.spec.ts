import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportMail } from '../../../src/features/reports/report-mail.service.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk, DOCUMENT } from '../directives/desk.js';
import { ReportDesk } from './report-desk.js';

let test: TestApp;
let desk: ReportDesk;
beforeAll(async () => {
  test = await startTestApp();
  // Noon, so that no test runs over the end of a day.
  const noon = new Date(test.clock.now());
  noon.setUTCHours(12, 0, 0, 0);
  test.clock.advance(noon.getTime() - test.clock.now());
  desk = await ReportDesk.open(test);
});
afterAll(() => test.close());

describe('GET /reports/daily, 200', () => {
  it('tells of the day so far, and says that it is not over', async () => {
    const work = new Desk(test, desk.workspace.owner.token);
    await desk.owner.post('/standing-orders', {
      name: 'Documents',
      effect: 'allow',
      match: { actionTypes: ['document.file'] },
    });
    const { approvalId, directiveId } = await work.handInReady({
      text: DOCUMENT,
      capo: 'capo_ops',
      priority: 'high',
    });
    await work.handInReady();
    await work.approve(approvalId);
    await work.until(directiveId, 'executed');
    await desk.owner.post('/revenue-events', {
      amount: 12.34,
      currency: 'USD',
      source: 'shop',
      description: '<b>One</b>',
    });
    await desk.owner.post('/revenue-events', { amount: 5, currency: 'EUR', source: 'fair' });

    const { status, body } = await desk.daily(desk.day(0));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      reportId: expect.stringMatching(/^rpt_[0-9a-z]{26}$/),
      date: desk.day(0),
      timezone: 'UTC',
      generatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      partial: true,
      currency: 'USD',
      customSections: [],
    });
    expect(body.sections).toMatchObject({
      revenue: {
        total: 12.34,
        currency: 'USD',
        byCurrency: { EUR: 5 },
        eventsTotal: 2,
        events: [
          {
            amount: 12.34,
            currency: 'USD',
            source: 'shop',
            description: '<b>One</b>',
            occurredAt: expect.any(String),
          },
          { amount: 5, currency: 'EUR', source: 'fair', description: null },
        ],
      },
      agentActivity: {
        directivesExecuted: 1,
        movesApproved: 1,
        movesBlocked: 0,
        capos: { capo_ops: { directivesExecuted: 1, movesApproved: 1, movesBlocked: 0, cost: 0 } },
      },
      approvalQueue: { pending: 1, urgent: 0, items: [{ priority: 'medium', capo: expect.any(String) }] },
      trustIntelligence: { scoresCompleted: 0, averageScore: null, topGap: null },
      costLedger: {
        total: 0,
        currency: 'USD',
        byCurrency: {},
        byCapo: [],
        byModel: [],
        budget: { unit: 'tokens' },
      },
      guardianState: { mode: 'guardrailed', pendingMoves: 1, blockedMoves: 0 },
      tomorrowQueue: { total: 0, items: [] },
    });
    const head = (await desk.owner.get('/audit-feed/head')).body;
    expect(body.receiptHead).toEqual({ seq: head.seq, hash: head.hash });
    expect(body.receiptRange.to).toBe(head.seq);
  });

  it('is kept by nobody until the day is over', async () => {
    expect(await desk.reports()).toEqual([]);
    expect((await desk.owner.get('/reports')).body).toMatchObject({ items: [], total: 0 });
  });

  it('tells of the last day that is over unless it is asked for another', async () => {
    const { status, body } = await desk.daily();
    expect(status).toBe(200);
    expect(body).toMatchObject({ date: desk.day(1), partial: false });
  });

  it('tells of its first day where there is none before', async () => {
    const { owner } = await test.createWorkspace();
    expect((await owner.get('/reports/daily')).body).toMatchObject({ date: desk.day(0), partial: true });
  });

  it('makes a day that was never reported once, whoever asks for it, and never changes it', async () => {
    const asked = await Promise.all(Array.from({ length: 5 }, () => desk.daily(desk.day(9))));
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(asked.map(({ text }) => text)).size).toBe(1);
    expect(asked[0]!.body).toMatchObject({
      partial: false,
      sections: { revenue: { total: 0, eventsTotal: 0 } },
    });
    await desk.owner.post('/revenue-events', {
      amount: 1,
      currency: 'USD',
      source: 'shop',
      occurredAt: test.clock.now() - 9 * 86_400_000,
    });
    expect((await desk.daily(desk.day(9))).text).toBe(asked[0]!.text);
    // The day before was made by the test above.
    expect((await desk.reports()).map(({ date, trigger }) => ({ date, trigger }))).toEqual([
      { date: desk.day(9), trigger: 'on-demand' },
      { date: desk.day(1), trigger: 'on-demand' },
    ]);
    expect(await desk.actions('report.generated')).toHaveLength(2);
    expect((await desk.owner.get('/reports?limit=1&offset=1')).body.items).toEqual([
      {
        reportId: asked[0]!.body.reportId,
        date: desk.day(9),
        generatedAt: asked[0]!.body.generatedAt,
        format: 'email',
        trigger: 'on-demand',
        delivery: { channel: 'none', status: 'none', at: null },
        recipients: [],
        headline: asked[0]!.body.headline,
      },
    ]);
  });

  it('leaves out the sections that are switched off', async () => {
    await desk.owner.put('/reports/config', { sections: { revenue: false, costLedger: false } });
    const { sections } = (await desk.daily(desk.day(0))).body;
    expect(Object.keys(sections).toSorted()).toEqual([
      'agentActivity',
      'approvalQueue',
      'guardianState',
      'tomorrowQueue',
      'trustIntelligence',
    ]);
    await desk.owner.put('/reports/config', { sections: { revenue: true, costLedger: true } });
  });

  it('answers Markdown where plain text is accepted, in which the words of others are text', async () => {
    const answer = await desk.owner.get(`/reports/daily?date=${desk.day(0)}`, { Accept: 'text/plain' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.headers.get('vary')).toContain('Accept');
    expect(answer.text).toMatch(/^# Daily Report, \w+, \d+ \w+ \d{4} \(so far\)\n/);
    expect(answer.text).toContain('## Waiting for you');
    expect(answer.text).toContain('- 12.34 USD from shop: \\<b\\>One\\</b\\>');
  });

  it('is JSON for whoever accepts anything', async () => {
    const answer = await desk.owner.get('/reports/daily', { Accept: '*/*' });
    expect(answer.headers.get('content-type')).toContain('application/json');
  });
});

describe('GET /reports/daily in a workspace with teams', () => {
  it('tells each member what they may see, and keeps the report and the list of reports for admins', async () => {
    const own = await ReportDesk.open(test);
    const { workspaceId, workspace } = own;
    const teamId = await test.createTeam(workspaceId, 'Marketing');
    const work = new Desk(test, workspace.owner.token);
    for (const team of [{ teamId }, {}, {}])
      await work.handInReady({ text: DOCUMENT, capo: 'capo_ops', ...team });
    await own.owner.post('/revenue-events', { amount: 7, currency: 'USD', source: 'till' });
    const today = new Date(test.clock.now()).toISOString().slice(0, 10);
    const told = async ({ token }: Client, date = today) => {
      const { status, body, text } = await new Client(test.url, token).get(`/reports/daily?date=${date}`);
      expect(status, text).toBe(200);
      const { approvalQueue, revenue } = body.sections;
      return [body.partial, approvalQueue.pending, approvalQueue.items.length, revenue.events.length];
    };
    const operator = await test.createMember(workspaceId, 'operator');
    const marketer = await test.createMember(workspaceId, 'viewer', [teamId]);
    expect(await told(workspace.owner)).toEqual([true, 3, 3, 1]);
    expect(await told(operator)).toEqual([true, 2, 2, 1]);
    expect(await told(marketer)).toEqual([true, 1, 1, 0]);

    // The report of a day that is over is kept for those who see all of it.
    const yesterday = new Date(test.clock.now() - 86_400_000).toISOString().slice(0, 10);
    await own.owner.put('/reports/config', { schedule: 'on-demand' });
    expect((await told(operator, yesterday))[0]).toBe(true);
    expect(await own.reports()).toEqual([]);
    expect((await told(workspace.owner, yesterday))[0]).toBe(false);
    expect(await told(marketer, yesterday)).toEqual([true, 1, 1, 0]);
    for (const { token } of [operator, marketer]) {
      const { status, body } = await new Client(test.url, token).get('/reports');
      expect(status).toBe(403);
      expect(body.error).toMatchObject({ code: 'FORBIDDEN', details: { requiredRoles: ['admin', 'owner'] } });
    }
  });

  it('is for everybody where there has never been a team', async () => {
    const { workspaceId } = await test.createWorkspace();
    const viewer = await test.createMember(workspaceId, 'viewer');
    expect((await viewer.get('/reports/daily')).status).toBe(200);
  });
});

describe('GET /reports/daily of a day that has no report yet', () => {
  const SECTION = {
    title: 'Pipeline',
    directive: 'File a summary of the open offers.',
    capo: 'capo_revenue',
  };

  async function openedOnDemand(): Promise<ReportDesk> {
    const asked = await ReportDesk.open(test);
    await asked.owner.put('/reports/config', { schedule: 'on-demand' });
    await asked.owner.post('/reports/custom-sections', SECTION);
    return asked;
  }

  const queued = ({ workspaceId }: ReportDesk) =>
    test.rows(`select kind from work_items where workspace_id = $1 and kind = 'report.sections'`, [
      workspaceId,
    ]);

  it('counts it for a viewer, who makes no report of it and has no section written', async () => {
    const asked = await openedOnDemand();
    const viewer = await test.createMember(asked.workspaceId, 'viewer');
    const { status, body } = await viewer.get(`/reports/daily?date=${asked.day(1)}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ date: asked.day(1), partial: true, customSections: [] });
    expect(await asked.reports()).toEqual([]);
    expect(await asked.actions('report.%')).toEqual([]);
    expect(await queued(asked)).toEqual([]);
  });

  it('makes it for an operator, who is named in its receipt, and has its sections written', async () => {
    const asked = await openedOnDemand();
    const operator = await test.createMember(asked.workspaceId, 'operator');
    const { body } = await operator.get(`/reports/daily?date=${asked.day(1)}`);
    expect(body).toMatchObject({ partial: false, customSections: [{ title: 'Pipeline' }] });
    const [made] = await test.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and action = 'report.generated'`,
      [asked.workspaceId],
    );
    const { actor, summary } = JSON.parse(made!.body);
    expect(actor.type).toBe('member');
    expect(summary).toBe(`${actor.name} asked for the Daily Report of ${asked.day(1)}, and it was made.`);
  });

  it('has no sections written for a day long past, since they would tell of today', async () => {
    const asked = await openedOnDemand();
    const { body } = await asked.daily(asked.day(5));
    expect(body).toMatchObject({ partial: false, customSections: [] });
    expect(await queued(asked)).toEqual([]);
  });

  it('tells the same whatever stands in the receipts of the day, and however many there are', async () => {
    const asked = await openedOnDemand();
    await asked.owner.post('/revenue-events', { amount: 7, currency: 'USD', source: 'till' });
    const [last] = await test.rows<{ seq: string; hash: string }>(
      'select seq, hash from receipts where workspace_id = $1 order by seq desc limit 1',
      [asked.workspaceId],
    );
    // More than are counted at once, one of them with what the database cannot read as JSON.
    const more = 12_000;
    await test.rows(
      `insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id, body,
         prev_hash, hash)
       select $1, $2::bigint + n, 'rcp_' || n, app.clock(), 'system', 'system', 'packet.denied', 'work_packet', 'pkt_' || n,
         '{"action":"packet.denied","capo":"capo_ops","details":{},"summary":"' || case n when 7 then '\\u0000' else '' end || '"}',
         'before ' || n, 'hash ' || n
       from generate_series(1, $3::int) n`,
      [asked.workspaceId, last!.seq, more],
    );
    await test.rows(`update receipt_heads set seq = seq + $2, hash = 'hash ' || $2 where workspace_id = $1`, [
      asked.workspaceId,
      more,
    ]);
    const { body: soFar } = await asked.daily(asked.day(0));
    expect(soFar.sections.agentActivity).toMatchObject({
      movesBlocked: more,
      capos: { capo_ops: { movesBlocked: more } },
    });
    test.clock.advance(86_400_000);
    const { status, body } = await asked.daily(asked.day(1));
    test.clock.advance(-86_400_000);
    expect(status).toBe(200);
    expect(body).toMatchObject({ partial: false, sections: { agentActivity: { movesBlocked: more } } });
    expect(body.sections.revenue.total).toBe(7);
    // A reader of the mail is told how much there was, and not all of it.
    const mail = reportMail(body, { format: 'email', workspaceName: 'Northwind' }).body as { html: string };
    expect(Buffer.byteLength(mail.html)).toBeLessThan(60_000);
    expect(mail.html).toContain('11,980 more are not listed here.');
  });

  it('tells of a day on which nothing happened in one line, and of nothing that is none', async () => {
    const asked = await openedOnDemand();
    const { body } = await asked.daily(asked.day(5));
    const text = reportMail(body, { format: 'plain-text', workspaceName: 'Northwind' }).body as string;
    expect(text).toContain('0 directives executed, 0 approvals waiting.');
    expect(text.match(/^## .*/gm)).toEqual(['## The guardian']);
    expect(text).not.toMatch(/: 0$/m);
  });

  it('tells of a kill on the day of the kill, and of its end on the day after', async () => {
    const asked = await openedOnDemand();
    const toMidnight = 86_400_000 - (test.clock.now() % 86_400_000);
    test.clock.advance(toMidnight - 60_000);
    expect((await asked.owner.post('/guardian/kill-switch', { reason: 'Late.' })).status).toBe(200);
    const [date, next] = [asked.day(0), asked.day(-1)];
    test.clock.advance(120_000);
    const killed = (await asked.daily(next)).body;
    expect((await asked.owner.post('/guardian/revert', { reason: 'Early.' })).status).toBe(200);
    const [dayOfKill, dayAfter] = [(await asked.daily(date)).body, (await asked.daily(next)).body];
    test.clock.advance(-toMidnight - 60_000);

    expect(killed.sections.guardianState).toMatchObject({ mode: 'killed', kills: 0, acts: [] });
    expect(dayOfKill.sections.guardianState).toMatchObject({
      ...{ kills: 1, reverts: 0 },
      acts: [{ summary: expect.stringContaining('engaged the kill switch: Late.') }],
    });
    expect(dayAfter.sections.guardianState).toMatchObject({
      ...{ mode: 'guardrailed', kills: 0, reverts: 1 },
      acts: [{ summary: expect.stringContaining('reverted the kill switch') }],
    });
  });
});

describe('a report that was kept', () => {
  it('is answered in whatever zone the workspace is by now', async () => {
    const own = await ReportDesk.open(test, { zone: 'UTC', days: 3 });
    const date = own.day(2);
    const kept = (await own.daily(date)).body;
    expect(kept.partial).toBe(false);
    await test.rows(
      `update workspaces set created_at = $2::date + interval '1 day', timezone = 'Pacific/Kiritimati' where workspace_id = $1`,
      [own.workspaceId, date],
    );
    expect((await own.daily(date)).body).toEqual(kept);
  });
});

describe('GET /reports/daily, 404', () => {
  it.each([
    ['a day that is to come', () => desk.day(-1), 'is still to come'],
    ['a day before the workspace', () => desk.day(31), 'The workspace began on'],
    ['the first day of all', () => '0001-01-01', 'The workspace began on'],
    ['the last day of all', () => '9999-12-31', 'is still to come'],
  ])('for %s', async (_what, date, message) => {
    const { status, body } = await desk.daily(date());
    expect(status).toBe(404);
    expect(body.error.message).toContain(message);
  });

  it('for a day that the zone skipped', async () => {
    const apia = await ReportDesk.open(test, { zone: 'Pacific/Apia', days: 1 });
    await test.rows(`update workspaces set created_at = '2011-12-01' where workspace_id = $1`, [
      apia.workspaceId,
    ]);
    const { status, body } = await apia.daily('2011-12-30');
    expect(status).toBe(404);
    expect(body.error.message).toBe('The zone Pacific/Apia had no 2011-12-30: its calendar skipped the day.');
    expect((await apia.daily('2011-12-31')).status).toBe(200);
  });
});

describe('GET /reports/daily, 406 and 422', () => {
  it('for a format that there is not', async () => {
    const { status, body } = await desk.owner.get('/reports/daily', { Accept: 'application/pdf' });
    expect(status).toBe(406);
    expect(body.error.details).toEqual({ available: ['application/json', 'text/plain'] });
  });

  it.each([
    '2026-02-29',
    '2026-13-01',
    '2026-2-1',
    '20260217',
    'today',
    '',
    '2026-02-17T00:00:00Z',
    '-00001-01-01',
  ])('for %j, which is no day', async (date) => {
    const { status, body } = await desk.daily(encodeURIComponent(date));
    expect(status).toBe(422);
    expect(body.error.details).toEqual([
      {
        path: 'date',
        rule: 'isCalendarDate',
        message: 'date must be a day of the calendar such as 2026-02-17',
      },
    ]);
  });
});

describe('POST /reports/:reportId/resend', () => {
  it('404 for a report that there is not, 409 while mail is off', async () => {
    expect((await desk.owner.post(`/reports/${newId('rpt')}/resend`)).status).toBe(404);
    expect((await desk.owner.post('/reports/nonsense/resend')).status).toBe(404);
    const { reportId } = (await desk.daily(desk.day(9))).body;
    const { status, body } = await desk.owner.post(`/reports/${reportId}/resend`);
    expect(status).toBe(409);
    expect(body.error.code).toBe('REPORT_MAIL_OFF');
  });
});
