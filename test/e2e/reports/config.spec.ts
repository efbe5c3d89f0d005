import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayAfter, dayOf } from '../../../src/platform/kernel/local-day.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { ReportDesk } from './report-desk.js';

const ON = {
  revenue: true,
  agentActivity: true,
  approvalQueue: true,
  trustIntelligence: true,
  costLedger: true,
  guardianState: true,
  tomorrowQueue: true,
};
const SECTION = {
  title: 'Pipeline',
  directive: 'File a summary of the open offers.',
  capo: 'capo_revenue',
  includeInReport: true,
};

let test: TestApp;
let desk: ReportDesk;
beforeAll(async () => {
  test = await startTestApp();
  desk = await ReportDesk.open(test, { zone: 'Europe/Vienna' });
});
afterAll(() => test.close());

describe('GET /reports/config, 200', () => {
  it('is at seven in the zone of the workspace, with everything on and mail off', async () => {
    const { status, body } = await desk.owner.get('/reports/config');
    expect(status).toBe(200);
    expect(body).toEqual({
      sections: ON,
      delivery: {
        time: '07:00',
        timezone: null,
        email: false,
        emailAddress: null,
        memberIds: [],
        inviteIds: [],
      },
      format: 'email',
      schedule: 'daily',
      timezone: 'Europe/Vienna',
      nextReportAt: expect.stringMatching(/T0[56]:00:00\.000Z$/),
    });
  });
});

describe('the first report', () => {
  it('is announced for when the day on which the workspace was made is over', async () => {
    const { owner } = await ReportDesk.open(test, { zone: 'Asia/Tokyo', days: 0 });
    const { body } = await owner.put('/reports/config', { delivery: { time: '23:59' } });
    const today = dayOf(test.clock.now(), 'Asia/Tokyo');
    expect(dayOf(Date.parse(body.nextReportAt), 'Asia/Tokyo')).toBe(dayAfter(today, 'Asia/Tokyo'));
  });
});

describe('the report after one that was made', () => {
  it('is announced for the day after, whatever is changed of the time or the zone', async () => {
    const own = await ReportDesk.open(test);
    const yesterday = own.day(1);
    const config = async (delivery: object) =>
      (await own.owner.put('/reports/config', { delivery })).body.nextReportAt;
    await config({ time: '00:00' });
    await own.look(own.day(2));
    await own.scheduled(1);
    expect(await config({ time: '23:59' })).toBe(`${own.day(-1)}T23:59:00.000Z`);
    expect((await own.reports()).map(({ date }) => date)).toEqual([yesterday]);
    // There it is yesterday, or today, and the report of yesterday is made.
    expect(await config({ time: '00:00', timezone: 'Pacific/Pago_Pago' })).toBe(
      `${own.day(-1)}T11:00:00.000Z`,
    );
  });
});

describe('PUT /reports/config, 200', () => {
  it('changes what is named, with a receipt of what was there before', async () => {
    const { status, body } = await desk.owner.put('/reports/config', {
      sections: { trustIntelligence: false },
      delivery: { time: '23:59', timezone: 'Asia/Tokyo', email: true, emailAddress: 'boss@acme.example' },
      format: 'plain-text',
    });
    expect(status).toBe(200);
    const changed = {
      sections: { ...ON, trustIntelligence: false },
      delivery: {
        time: '23:59',
        timezone: 'Asia/Tokyo',
        email: true,
        emailAddress: 'boss@acme.example',
        memberIds: [],
        inviteIds: [],
      },
      format: 'plain-text',
      schedule: 'daily',
      timezone: 'Asia/Tokyo',
      nextReportAt: expect.stringMatching(/T14:59:00\.000Z$/),
    };
    expect(body).toEqual(changed);
    expect((await desk.owner.get('/reports/config')).body).toEqual(changed);
    const [{ body: receipt }] = (await test.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and action = 'report_config.changed'`,
      [desk.workspaceId],
    )) as [{ body: string }];
    expect(JSON.parse(receipt).details).toMatchObject({
      old: {
        format: 'email',
        delivery: { time: '07:00', timezone: null, email: false, hasEmailAddress: false },
      },
      new: { format: 'plain-text', delivery: { hasEmailAddress: true } },
    });
    // Only admins read the configuration.
    expect(receipt).not.toContain('boss@acme.example');
  });

  it('leaves what is not named', async () => {
    const { body } = await desk.owner.put('/reports/config', { delivery: { timezone: null } });
    expect(body).toMatchObject({
      delivery: { time: '23:59', timezone: null, emailAddress: 'boss@acme.example' },
      timezone: 'Europe/Vienna',
      format: 'plain-text',
    });
  });

  it('writes no receipt where nothing changes', async () => {
    const before = await desk.actions('report_config.changed');
    expect((await desk.owner.put('/reports/config', {})).status).toBe(200);
    expect(await desk.actions('report_config.changed')).toEqual(before);
  });

  it('makes none by itself on demand', async () => {
    const { body } = await desk.owner.put('/reports/config', { schedule: 'on-demand' });
    expect(body).toMatchObject({ schedule: 'on-demand', nextReportAt: null });
    await desk.owner.put('/reports/config', { schedule: 'daily' });
  });

  it('goes with the zone of the workspace where it has none of its own', async () => {
    await desk.owner.put('/settings', { timezone: 'America/New_York' });
    expect((await desk.owner.get('/reports/config')).body.timezone).toBe('America/New_York');
  });
});

describe('PUT /reports/config, 422', () => {
  it.each([
    [{ sections: { weather: true } }, 'sections.weather'],
    [{ sections: { revenue: 'yes' } }, 'sections.revenue'],
    [{ sections: { revenue: null } }, 'sections.revenue'],
    [{ sections: [] }, 'sections'],
    [{ delivery: { time: '24:00' } }, 'delivery.time'],
    [{ delivery: { time: '7:00' } }, 'delivery.time'],
    [{ delivery: { time: null } }, 'delivery.time'],
    [{ delivery: { timezone: '+05:30' } }, 'delivery.timezone'],
    [{ delivery: { timezone: 'Mars/Olympus' } }, 'delivery.timezone'],
    [{ delivery: { emailAddress: 'Boss <boss@acme.example>' } }, 'delivery.emailAddress'],
    [{ delivery: { emailAddress: 'boss@acme.example\r\nBcc: eve@evil.example' } }, 'delivery.emailAddress'],
    [{ delivery: { emailAddress: null } }, 'delivery.emailAddress'],
    [{ delivery: { cc: 'x@acme.example' } }, 'delivery.cc'],
    [{ format: 'pdf' }, 'format'],
    [{ schedule: 'hourly' }, 'schedule'],
    [{ weather: true }, 'weather'],
  ])('for %j', async (body, path) => {
    const before = (await desk.owner.get('/reports/config')).body;
    const answer = await desk.owner.put('/reports/config', body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details.map((fault: { path: string }) => fault.path)).toContain(path);
    expect((await desk.owner.get('/reports/config')).body).toEqual(before);
  });

  it('for mail without an address', async () => {
    const other = await ReportDesk.open(test);
    const answer = await other.owner.put('/reports/config', { delivery: { email: true } });
    expect(answer.status).toBe(422);
    expect(answer.body.error.details[0].message).toBe(
      'delivery.emailAddress, delivery.memberIds or delivery.inviteIds must be set for reports to be mailed',
    );
  });
});

describe('/reports/config and /reports/custom-sections, 403', () => {
  it('are for admins', async () => {
    const operator = await test.createMember(desk.workspaceId, 'operator');
    const answers = [
      await operator.get('/reports/config'),
      await operator.put('/reports/config', {}),
      await operator.get('/reports/custom-sections'),
      await operator.post('/reports/custom-sections', SECTION),
      await operator.send('DELETE', `/reports/custom-sections/${newId('sec')}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
  });
});

describe('/reports/custom-sections', () => {
  it('201 with the section, which is listed until it is deleted', async () => {
    const { status, body, headers } = await desk.owner.post('/reports/custom-sections', SECTION);
    expect(status).toBe(201);
    expect(body).toEqual({
      sectionId: expect.stringMatching(/^sec_/),
      ...SECTION,
      createdAt: expect.any(Number),
    });
    expect(headers.get('location')).toBe(`/api/pro/reports/custom-sections/${body.sectionId}`);
    expect((await desk.owner.get('/reports/custom-sections')).body).toEqual({ items: [body] });
    const path = `/reports/custom-sections/${body.sectionId}`;
    expect((await desk.owner.send('DELETE', path)).body).toEqual(body);
    expect((await desk.owner.send('DELETE', path)).status).toBe(404);
    expect((await desk.owner.get('/reports/custom-sections')).body).toEqual({ items: [] });
    const actions = (await desk.actions('report_section.%')).map(({ action }) => action);
    expect(actions).toEqual(['report_section.created', 'report_section.deleted']);
  });

  it('404 for one of another workspace', async () => {
    const { sectionId } = (await desk.owner.post('/reports/custom-sections', SECTION)).body;
    const other = await ReportDesk.open(test);
    expect((await other.owner.send('DELETE', `/reports/custom-sections/${sectionId}`)).status).toBe(404);
    await desk.owner.send('DELETE', `/reports/custom-sections/${sectionId}`);
  });

  it('409 for the eleventh, also when they come at once', async () => {
    const other = await ReportDesk.open(test);
    const answers = await Promise.all(
      Array.from({ length: 13 }, () => other.owner.post('/reports/custom-sections', SECTION)),
    );
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 201), 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)!.body.error.code).toBe('TOO_MANY_SECTIONS');
  });

  it.each([
    [{ ...SECTION, title: '' }, 'title'],
    [{ ...SECTION, title: 'a\nb' }, 'title'],
    [{ ...SECTION, title: 'x'.repeat(121) }, 'title'],
    [{ ...SECTION, directive: '   ' }, 'directive'],
    [{ ...SECTION, directive: 'x'.repeat(4_001) }, 'directive'],
    [{ ...SECTION, capo: 'capo_of_all' }, 'capo'],
    [{ ...SECTION, includeInReport: 'yes' }, 'includeInReport'],
    [{ ...SECTION, more: 1 }, 'more'],
  ])('422 for %j', async (body, path) => {
    const answer = await desk.owner.post('/reports/custom-sections', body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details[0].path).toBe(path);
  });
});
