import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { DAILY, SCHEDULE, ScheduleDesk } from './schedule-desk.js';

let test: TestApp;
let desk: ScheduleDesk;
beforeAll(async () => {
  test = await startTestApp();
  test.clock.stop(Date.parse('2026-11-18T12:00:00Z'));
  desk = await ScheduleDesk.open(test);
});
afterAll(() => test.close());

const faultsOf = ({ body }: { body: any }) =>
  body.error.details.map(({ path, message }: { path: string; message: string }) => `${path}: ${message}`);

describe('POST /schedules', () => {
  it('answers the schedule with what was left out, its next run, a location and a receipt', async () => {
    const answer = await desk.client.post('/schedules', SCHEDULE);
    expect(answer.status, answer.text).toBe(201);
    const { scheduleId } = answer.body;
    expect(answer.headers.get('location')).toBe(`/api/pro/schedules/${scheduleId}`);
    expect(answer.body).toMatchObject({
      name: 'Board memo',
      directive: { ...SCHEDULE.directive, priority: 'medium', requiresApproval: true, context: {} },
      rule: DAILY,
      missed: 'once',
      status: 'active',
      pausedReason: null,
      nextRunAt: Date.parse('2026-11-19T09:00:00Z'),
      lastRunAt: null,
      lastDirectiveId: null,
      teamId: null,
    });
    expect(answer.body.owner).toEqual(answer.body.createdBy);
    expect(await desk.read(scheduleId)).toEqual(answer.body);
    const [receipt] = await desk.receipts(scheduleId);
    expect(receipt).toMatchObject({ action: 'schedule.created', details: { rule: DAILY, missed: 'once' } });
  });

  it("keeps the workspace's zone where none is named", async () => {
    await desk.client.put('/settings', { timezone: 'Europe/Vienna' });
    const { rule, nextRunAt } = (
      await desk.client.post('/schedules', { ...SCHEDULE, rule: { every: 'month', on: 31, at: '09:00' } })
    ).body;
    expect(rule).toEqual({ every: 'month', on: 31, at: '09:00', timezone: 'Europe/Vienna' });
    expect(nextRunAt).toBe(Date.parse('2026-11-30T08:00:00Z'));
  });

  it('says the next five times, at nine by the clock of the zone also when it changes, and none while it is paused', async () => {
    test.clock.stop(Date.parse('2027-03-20T12:00:00Z'));
    const { scheduleId, nextRunsAt } = await desk.schedule({
      rule: { every: 'week', on: 'mon', at: '09:00', timezone: 'Europe/Berlin' },
    });
    expect(nextRunsAt.map((at: number) => new Date(at).toISOString().slice(0, 16))).toEqual([
      '2027-03-22T08:00',
      '2027-03-29T07:00',
      '2027-04-05T07:00',
      '2027-04-12T07:00',
      '2027-04-19T07:00',
    ]);
    expect((await desk.patch(scheduleId, { status: 'paused' })).body.nextRunsAt).toEqual([]);
    test.clock.stop(Date.parse('2026-11-18T12:00:00Z'));
  });

  it('takes a time that the clock change skips, and says when it is due', async () => {
    const { scheduleId } = await desk.schedule({
      rule: { every: 'month', on: 28, at: '02:30', timezone: 'Europe/Berlin' },
    });
    test.clock.stop(Date.parse('2027-03-01T12:00:00Z'));
    const rule = { every: 'month', on: 28, at: '02:31', timezone: 'Europe/Berlin' };
    expect((await desk.patch(scheduleId, { rule })).body.nextRunAt).toBe(Date.parse('2027-03-28T01:31:00Z'));
    test.clock.stop(Date.parse('2026-11-18T12:00:00Z'));
  });

  it.each([
    [
      'a zone that does not exist',
      { rule: { ...DAILY, timezone: 'Mars/Olympus' } },
      ['rule.timezone: timezone must be UTC or an IANA zone such as Europe/Berlin'],
    ],
    [
      'an offset for a zone',
      { rule: { ...DAILY, timezone: '+05:30' } },
      ['rule.timezone: timezone must be UTC or an IANA zone such as Europe/Berlin'],
    ],
    ['24:00', { rule: { ...DAILY, at: '24:00' } }, ['rule.at: at must be a time from 00:00 to 23:59']],
    [
      'a day of the week for each day',
      { rule: { ...DAILY, on: 'mon' } },
      ['rule.on: on must be left out where every is day'],
    ],
    [
      'a week without a day',
      { rule: { ...DAILY, every: 'week' } },
      ['rule.on: on must be one of mon, tue, wed, thu, fri, sat, sun where every is week'],
    ],
    [
      'a week on a number',
      { rule: { ...DAILY, every: 'week', on: 1 } },
      ['rule.on: on must be one of mon, tue, wed, thu, fri, sat, sun where every is week'],
    ],
    [
      'day 32 of the month',
      { rule: { ...DAILY, every: 'month', on: 32 } },
      ['rule.on: on must be a whole number from 1 to 31 where every is month'],
    ],
    [
      'day 1.5 of the month',
      { rule: { ...DAILY, every: 'month', on: 1.5 } },
      ['rule.on: on must be a whole number from 1 to 31 where every is month'],
    ],
    [
      'each year',
      { rule: { ...DAILY, every: 'year' } },
      ['rule.every: every must be one of the following values: day, week, month'],
    ],
    ['no rule', { rule: null }, ['rule: nested property rule must be either object or array']],
    ['an empty text', { directive: { text: ' ' } }, ['directive.text: text must not be empty']],
    [
      'a text that is too long',
      { directive: { text: 'a'.repeat(20_001) } },
      ['directive.text: text must be at most 20,000 characters long'],
    ],
    [
      'a capo that does not exist',
      { directive: { text: 'File it.', capo: 'capo_none' } },
      [expect.stringContaining('directive.capo: capo must be one of')],
    ],
    [
      'a deadline, which each run would have missed but the first',
      { directive: { text: 'File it.', deadline: '2027-01-01T00:00:00Z' } },
      [expect.stringContaining('directive.deadline')],
    ],
    [
      'a context of more than 64 KB',
      { directive: { text: 'File it.', context: { a: 'a'.repeat(70_000) } } },
      ['directive.context: context must have at most 64 KB as JSON'],
    ],
    ['a name of two lines', { name: 'a\nb' }, ['name: name must be one line without control characters']],
    [
      'what is no way with missed ones',
      { missed: 'twice' },
      [expect.stringContaining('missed: missed must be one of')],
    ],
  ])('refuses %s and names it', async (_what, body, faults) => {
    const before = await test.rows('select 1 from schedules');
    const answer = await desk.client.post('/schedules', { ...SCHEDULE, ...body });
    expect(answer.status, answer.text).toBe(422);
    expect(faultsOf(answer)).toEqual(faults);
    expect(await test.rows('select 1 from schedules')).toHaveLength(before.length);
  });

  it('has 100 for each team and for none, also where several come at once', async () => {
    const other = await ScheduleDesk.open(test);
    const { scheduleId } = await other.schedule();
    await test.rows(
      `insert into schedules select (jsonb_populate_record(s, jsonb_build_object('schedule_id', app.new_id('sch')))).*
       from schedules s, generate_series(1, 98) where s.schedule_id = $1`,
      [scheduleId],
    );
    const answers = await Promise.all([1, 2, 3].map(() => other.client.post('/schedules', SCHEDULE)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.body.error).toMatchObject({ code: 'TOO_MANY_SCHEDULES', details: { limit: 100 } });
    const teamId = await test.createTeam(other.workspaceId, 'Sales');
    await other.schedule({ teamId });
  });
});

describe('GET /schedules', () => {
  it('lists the newest first, without contexts, by status and team', async () => {
    const other = await ScheduleDesk.open(test);
    const teamId = await test.createTeam(other.workspaceId, 'Sales');
    const first = await other.schedule({ name: 'First' });
    const second = await other.schedule({
      name: 'Second',
      teamId,
      directive: { text: 'File this memo.\nAll of it.', context: { secret: 1 } },
    });
    await other.patch(first.scheduleId, { status: 'paused' });
    const { items, total } = (await other.client.get('/schedules')).body;
    expect([total, ...items.map(({ name }: { name: string }) => name)]).toEqual([2, 'Second', 'First']);
    expect(items[0]).toMatchObject({ title: 'File this memo.', teamId });
    expect(items[0]).not.toHaveProperty('directive');
    const names = async (query: string) =>
      (await other.client.get(`/schedules?${query}`)).body.items.map(({ name }: { name: string }) => name);
    expect(await names('status=paused')).toEqual(['First']);
    expect(await names(`teamId=${teamId}`)).toEqual(['Second']);
    expect((await other.client.get(`/schedules/${second.scheduleId}`)).status).toBe(200);
  });
});

describe('PATCH /schedules/{scheduleId}', () => {
  it('replaces what is named, tells what changed, and makes whoever changes it its owner', async () => {
    const admin = await test.createMember(desk.workspaceId, 'admin');
    const { scheduleId } = await desk.schedule();
    const before = await desk.read(scheduleId);
    const rule = { every: 'week', on: 'fri', at: '17:00', timezone: 'UTC' };
    const answer = await desk.as(admin.token).patch(scheduleId, { rule, name: 'Friday memo' });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      rule,
      name: 'Friday memo',
      nextRunAt: Date.parse('2026-11-20T17:00:00Z'),
    });
    expect(answer.body.owner.id).toBe(admin.memberId);
    expect(answer.body.createdBy).toEqual(before.createdBy);
    const [, receipt] = await desk.receipts(scheduleId);
    expect(receipt).toMatchObject({
      action: 'schedule.updated',
      details: { old: { name: 'Board memo', rule: DAILY }, new: { name: 'Friday memo', rule } },
    });
  });

  it('changes nothing and leaves no receipt where it is so already', async () => {
    const { scheduleId } = await desk.schedule();
    const before = await desk.read(scheduleId);
    const { name, directive, rule } = before;
    expect((await desk.patch(scheduleId, { name, directive, rule, status: 'active' })).body).toEqual(before);
    expect((await desk.patch(scheduleId, { name: null })).body).toEqual(before);
    expect(await desk.acts(scheduleId)).toEqual(['created']);
  });

  it('changes a paused one, which stays paused, and resumes it from its next due time on', async () => {
    const { scheduleId } = await desk.schedule();
    expect((await desk.patch(scheduleId, { status: 'paused' })).body).toMatchObject({
      status: 'paused',
      nextRunAt: null,
      pausedReason: expect.stringMatching(/paused it\.$/),
    });
    const rule = { ...DAILY, at: '13:00' };
    expect((await desk.patch(scheduleId, { rule })).body).toMatchObject({
      status: 'paused',
      nextRunAt: null,
    });
    expect((await desk.patch(scheduleId, { status: 'active' })).body).toMatchObject({
      status: 'active',
      pausedReason: null,
      nextRunAt: Date.parse('2026-11-18T13:00:00Z'),
    });
    expect(await desk.acts(scheduleId)).toEqual(['created', 'paused', 'updated', 'resumed']);
  });

  it('refuses to resume one whose team has been archived', async () => {
    const teamId = await test.createTeam(desk.workspaceId, 'Gone');
    const { scheduleId } = await desk.schedule({ teamId });
    await desk.patch(scheduleId, { status: 'paused' });
    await test.rows('update teams set archived_at = now() where team_id = $1', [teamId]);
    for (const refused of [
      await desk.patch(scheduleId, { status: 'active' }),
      await desk.client.post(`/schedules/${scheduleId}/run`),
    ]) {
      expect(refused.status).toBe(409);
      expect(refused.body.error).toMatchObject({
        code: 'INVALID_TRANSITION',
        message: expect.stringContaining('archived'),
      });
    }
    expect((await desk.client.post('/schedules', { ...SCHEDULE, teamId })).status).toBe(404);
  });

  it.each([{ teamId: newId('team') }, { nextRunAt: 1 }, { status: 'killed' }, { rule: { every: 'day' } }])(
    'refuses %j',
    async (body) => {
      const { scheduleId } = await desk.schedule();
      expect((await desk.patch(scheduleId, body)).status).toBe(422);
      expect(await desk.acts(scheduleId)).toEqual(['created']);
    },
  );
});

describe('DELETE /schedules/{scheduleId}', () => {
  it('leaves what it has handed in, and a receipt', async () => {
    const { scheduleId } = await desk.schedule();
    const { directiveId } = (await desk.client.post(`/schedules/${scheduleId}/run`)).body;
    expect((await desk.client.delete(`/schedules/${scheduleId}`)).status).toBe(200);
    expect((await desk.client.get(`/schedules/${scheduleId}`)).status).toBe(404);
    expect((await desk.client.delete(`/schedules/${scheduleId}`)).status).toBe(404);
    expect((await desk.directive(directiveId)).schedule).toEqual({ scheduleId, dueAt: null });
    expect(await desk.acts(scheduleId)).toEqual(['created', 'ran', 'deleted']);
  });
});

describe('POST /schedules/{scheduleId}/run', () => {
  it('hands in the directive now for whoever runs it, and leaves the due times as they are', async () => {
    const { scheduleId, nextRunAt } = await desk.schedule();
    const member = await test.createMember(desk.workspaceId, 'operator');
    await desk.patch(scheduleId, { status: 'paused' });
    const answer = await member.post(`/schedules/${scheduleId}/run`);
    expect(answer.status, answer.text).toBe(201);
    const { directiveId } = answer.body;
    expect(answer.headers.get('location')).toBe(`/api/pro/directives/${directiveId}`);
    expect(answer.body).toMatchObject({
      capo: 'capo_ops',
      schedule: { scheduleId, dueAt: null },
      createdBy: { id: member.memberId, via: 'api' },
    });
    expect(await desk.read(scheduleId)).toMatchObject({ status: 'paused', lastDirectiveId: directiveId });
    await desk.patch(scheduleId, { status: 'active' });
    expect(await desk.read(scheduleId)).toMatchObject({ nextRunAt });
    const [made] = await desk.made(scheduleId);
    // Whoever wrote it and whoever ran it: neither is the other's second pair of eyes.
    const { owner } = await desk.read(scheduleId);
    expect(made!.requester_ids.toSorted()).toEqual([owner.id, member.memberId].toSorted());
    const { items } = (await desk.client.get(`/directives?scheduleId=${scheduleId}`)).body;
    expect(items.map((one: { directiveId: string }) => one.directiveId)).toEqual([directiveId]);
  });

  it('hands in one directive for one key', async () => {
    const { scheduleId } = await desk.schedule();
    const key = { 'Idempotency-Key': newId('req') };
    const answers = await Promise.all(
      [1, 2].map(() => desk.client.post(`/schedules/${scheduleId}/run`, undefined, key)),
    );
    expect(new Set(answers.map(({ body }) => body.directiveId)).size).toBe(1);
    expect(await desk.made(scheduleId)).toHaveLength(1);
  });

  it('is refused while killed and while the guardian only observes', async () => {
    const other = await ScheduleDesk.open(test);
    const { scheduleId } = await other.schedule();
    await other.kill();
    expect((await other.client.post(`/schedules/${scheduleId}/run`)).status).toBe(423);
    await other.revert();
    await other.mode('observe');
    expect((await other.client.post(`/schedules/${scheduleId}/run`)).status).toBe(423);
    expect(await other.made(scheduleId)).toEqual([]);
  });
});

it("shows nobody another team's schedule, and lets viewers read only", async () => {
  const [own, foreign] = [
    await test.createTeam(desk.workspaceId, 'Ours'),
    await test.createTeam(desk.workspaceId, 'Theirs'),
  ];
  const operator = await test.createMember(desk.workspaceId, 'operator', [own]);
  const viewer = await test.createMember(desk.workspaceId, 'viewer', [own]);
  const { scheduleId, ...made } = await desk.as(operator.token).schedule();
  expect(made).toMatchObject({ teamId: own });
  const theirs = await desk.schedule({ teamId: foreign });
  expect((await viewer.get(`/schedules/${scheduleId}`)).status).toBe(200);
  expect((await viewer.send('PATCH', `/schedules/${scheduleId}`, { name: 'Mine' })).status).toBe(403);
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/run'],
  ] as const) {
    const body = method === 'PATCH' ? { name: 'Mine' } : undefined;
    const answer = await operator.send(method, `/schedules/${theirs.scheduleId}${path}`, body);
    const missing = await operator.send(method, `/schedules/${newId('sch')}${path}`, body);
    expect([answer.status, answer.body.error]).toEqual([404, missing.body.error]);
  }
});
