import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLog } from '../../../src/features/verifier/verifier.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { DAY_MS, HOUR_MS, ScheduleDesk } from './schedule-desk.js';

const MINUTE_MS = 60_000;

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** A workspace at noon of a day; its schedules are due the day after at nine. */
async function atNoon(): Promise<ScheduleDesk> {
  const desk = await ScheduleDesk.open(test);
  test.clock.stop(Date.parse('2026-11-23T12:00:00Z'));
  return desk;
}

const dues = async (desk: ScheduleDesk, scheduleId: string) =>
  (await desk.made(scheduleId)).map(({ scheduled_for }) => scheduled_for?.getTime());

describe('a schedule that is due', () => {
  it('hands in one directive for its owner, and links it in the record, the receipts and the feed', async () => {
    const desk = await atNoon();
    const { scheduleId, nextRunAt } = await desk.schedule();
    const { owner } = await desk.read(scheduleId);
    desk.at(nextRunAt, -1);
    await test.rows(`select app.enqueue_due_schedules(10)`);
    expect(
      await test.rows(`select 1 from work_items where kind = 'schedule.run' and id = $1`, [scheduleId]),
    ).toEqual([]);
    desk.at(nextRunAt);
    const after = await desk.handled(scheduleId);
    const [made, ...more] = await desk.made(scheduleId);
    expect(more).toEqual([]);
    const directiveId = made!.directive_id;
    expect(after).toMatchObject({
      lastRunAt: nextRunAt,
      lastDirectiveId: directiveId,
      nextRunAt: nextRunAt + DAY_MS,
    });
    expect(made).toMatchObject({ created_by: { id: owner.id, via: 'schedule' }, requester_ids: [owner.id] });
    const directive = await desk.directive(directiveId);
    expect(directive).toMatchObject({ capo: 'capo_ops', schedule: { scheduleId, dueAt: nextRunAt } });
    expect(await desk.ready(directive.approvalId)).toMatchObject({ directiveId });
    const ran = (await desk.receipts(scheduleId)).at(-1);
    expect(ran).toMatchObject({
      action: 'schedule.ran',
      directiveId,
      actor: { id: owner.id, via: 'schedule' },
      details: { directiveId, dueAt: nextRunAt, missedSince: null },
    });
    const [created] = await test.rows<{ body: string }>(
      `select body from receipts where directive_id = $1 and action = 'directive.created'`,
      [directiveId],
    );
    expect(JSON.parse(created!.body).details.schedule).toEqual({
      scheduleId,
      name: 'Board memo',
      dueAt: nextRunAt,
    });
    const feed = JSON.stringify((await desk.client.get('/feed')).body.items);
    expect(feed).toContain('The schedule \\"Board memo\\" handed in \\"File this memo');
    expect((await desk.client.get('/audit-feed/verify')).body.ok).toBe(true);
    const { text } = await desk.client.get('/audit-feed?format=jsonl');
    const { areHashesChecked, gaps } = await verifyLog(Readable.from([Buffer.from(text)]), desk.workspaceId);
    expect({ areHashesChecked, gaps }).toEqual({ areHashesChecked: true, gaps: 0 });
  });

  it('refuses a second directive for one due time, whoever makes it', async () => {
    const desk = await atNoon();
    const { scheduleId, nextRunAt } = await desk.schedule();
    desk.at(nextRunAt);
    await desk.handled(scheduleId);
    await expect(
      test.rows(
        `insert into directives select (jsonb_populate_record(d, jsonb_build_object('directive_id', app.new_id('dir')))).*
         from directives d where d.schedule_id = $1`,
        [scheduleId],
      ),
    ).rejects.toMatchObject({ constraint: 'directives_one_per_due' });
  });

  it('runs no due time again after the clock of the database was set back', async () => {
    const desk = await atNoon();
    const { scheduleId, nextRunAt } = await desk.schedule();
    desk.at(nextRunAt, MINUTE_MS);
    await desk.handled(scheduleId);
    desk.at(nextRunAt, -HOUR_MS);
    await desk.patch(scheduleId, { status: 'paused' });
    const { body } = await desk.patch(scheduleId, { status: 'active' });
    expect(body.nextRunAt).toBe(nextRunAt + DAY_MS);
  });
});

describe('due times that were missed', () => {
  it.each([
    // Three days later, and four hours late on that day.
    ['once', 3 * DAY_MS + 4 * HOUR_MS, [3]],
    ['skip', 3 * DAY_MS + 4 * HOUR_MS, []],
    // Within a quarter of an hour it is not late, and one directive does for all.
    ['once', 3 * DAY_MS + 15 * MINUTE_MS, [3]],
    ['skip', 3 * DAY_MS + 15 * MINUTE_MS, [3]],
    ['skip', 3 * DAY_MS + 15 * MINUTE_MS + 1, []],
  ])('with %s after %d ms make one directive at most', async (missed, later, days) => {
    const desk = await atNoon();
    const { scheduleId, nextRunAt } = await desk.schedule({ missed });
    desk.at(nextRunAt, later);
    const after = await desk.handled(scheduleId);
    expect(await dues(desk, scheduleId)).toEqual(days.map((day) => nextRunAt + day * DAY_MS));
    expect(after.nextRunAt).toBe(nextRunAt + 4 * DAY_MS);
    const receipt = (await desk.receipts(scheduleId)).at(-1);
    expect(receipt).toMatchObject(
      days.length > 0
        ? { action: 'schedule.ran', details: { missedSince: nextRunAt } }
        : { action: 'schedule.skipped', details: { from: nextRunAt, to: nextRunAt + 3 * DAY_MS } },
    );
    desk.at(nextRunAt, 4 * DAY_MS);
    await desk.handled(scheduleId);
    expect(await dues(desk, scheduleId)).toEqual([...days, 4].map((day) => nextRunAt + day * DAY_MS));
  });

  it.each([
    ['once', 'killed', 1],
    ['skip', 'killed', 0],
    ['once', 'observe', 1],
    ['skip', 'observe', 0],
  ])('with %s while %s are handled after that', async (missed, mode, count) => {
    const desk = await atNoon();
    const { scheduleId, nextRunAt } = await desk.schedule({ missed });
    await (mode === 'killed' ? desk.kill() : desk.mode(mode));
    desk.at(nextRunAt, 2 * DAY_MS + HOUR_MS);
    await test.rows('select app.enqueue_due_schedules(10)');
    expect(
      await test.rows(`select 1 from work_items where kind = 'schedule.run' and id = $1`, [scheduleId]),
    ).toEqual([]);
    // What was claimed before the kill came finds it under the lock.
    await test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at) values ('schedule.run', $1, $2, $2, now())`,
      [scheduleId, desk.workspaceId],
    );
    await eventually(
      () => test.rows(`select 1 from work_items where kind = 'schedule.run' and id = $1`, [scheduleId]),
      ({ length }) => length === 0,
    );
    expect(await desk.read(scheduleId)).toMatchObject({ status: 'active', nextRunAt });
    expect(await desk.made(scheduleId)).toEqual([]);
    await (mode === 'killed' ? desk.revert() : desk.mode('guardrailed'));
    await desk.handled(scheduleId);
    expect(await desk.made(scheduleId)).toHaveLength(count);
  });
});

describe('an owner who may no longer hand in directives', () => {
  const LOSSES: [
    string,
    RegExp,
    (desk: ScheduleDesk, memberId: string, teamId: string) => Promise<unknown>,
  ][] = [
    [
      'was removed',
      /is no longer a member of the workspace/,
      (desk, memberId) => desk.client.delete(`/members/${memberId}`),
    ],
    [
      'became a viewer of the team',
      /may no longer hand in directives for its team/,
      (_desk, memberId) =>
        test.rows(`update team_members set role = 'viewer' where member_id = $1`, [memberId]),
    ],
    [
      'left the team',
      /may no longer hand in directives for its team/,
      (_desk, memberId) => test.rows('delete from team_members where member_id = $1', [memberId]),
    ],
    [
      'had a team that was archived',
      /Its team has been archived/,
      (_desk, _memberId, teamId) =>
        test.rows('update teams set archived_at = now() where team_id = $1', [teamId]),
    ],
  ];

  it.each(LOSSES)(
    'and %s pauses the schedule, which says why and asks for a person',
    async (_what, because, lose) => {
      const desk = await atNoon();
      const teamId = await test.createTeam(desk.workspaceId, 'Sales');
      const member = await test.createMember(desk.workspaceId, 'operator', [teamId]);
      await test.rows(
        `update users set email = lower(user_id) || '@northwind.example'
         where user_id in (select user_id from members where workspace_id = $1)`,
        [desk.workspaceId],
      );
      const { scheduleId, nextRunAt } = await desk.as(member.token).schedule();
      const lost = (await lose(desk, member.memberId, teamId)) as { status?: number };
      if (lost.status !== undefined) expect(lost.status).toBe(200);
      desk.at(nextRunAt);
      const after = await desk.handled(scheduleId);
      expect(after).toMatchObject({
        status: 'paused',
        nextRunAt: null,
        pausedReason: expect.stringMatching(because),
      });
      expect(await desk.made(scheduleId)).toEqual([]);
      expect((await desk.receipts(scheduleId)).at(-1)).toMatchObject({
        action: 'schedule.paused',
        outcome: 'denied',
        actor: { type: 'system' },
      });
      const { items } = (await desk.client.get('/escalations?kind=schedule_paused')).body;
      expect(items).toMatchObject([
        {
          entity: { type: 'schedule', id: scheduleId },
          options: ['resume', 'dismiss'],
          reason: expect.stringMatching(because),
        },
      ]);
      // Whoever may resume it is mailed: here the owner of the workspace, and not the member whose rights are gone.
      const told = await eventually(
        () =>
          test.rows<{ member_id: string }>('select member_id from notifications where entity_id = $1', [
            items[0].escalationId,
          ]),
        ({ length }) => length > 0,
      );
      expect(told).toHaveLength(1);
      expect(told[0]!.member_id).not.toBe(member.memberId);
    },
  );

  it('is followed by whoever resumes it, in the escalation or in the schedule', async () => {
    const desk = await atNoon();
    const member = await test.createMember(desk.workspaceId, 'operator');
    const heir = await test.createMember(desk.workspaceId, 'operator');
    const [first, second] = [await desk.as(member.token).schedule(), await desk.as(member.token).schedule()];
    await test.rows(`update members set role = 'viewer' where member_id = $1`, [member.memberId]);
    desk.at(first.nextRunAt);
    for (const { scheduleId } of [first, second]) await desk.handled(scheduleId);
    const open = async () => (await desk.client.get('/escalations?kind=schedule_paused')).body.items;
    const about = (await open()).find(({ entity }: any) => entity.id === first.scheduleId);
    const decision = { escalationId: about.escalationId, decision: 'resume' };
    expect((await member.post('/escalations/decide', decision)).status).toBe(403);
    const decided = await heir.post('/escalations/decide', decision);
    expect(decided.status, decided.text).toBe(200);
    expect(decided.body.outcome).toMatch(/resumed the schedule "Board memo"\.$/);
    expect((await desk.as(heir.token).patch(second.scheduleId, { status: 'active' })).status).toBe(200);
    expect(await open()).toEqual([]);
    desk.at(first.nextRunAt, DAY_MS);
    for (const { scheduleId } of [first, second]) {
      expect(await desk.handled(scheduleId)).toMatchObject({
        status: 'active',
        owner: { id: heir.memberId },
      });
      const [made] = await desk.made(scheduleId);
      // What it missed while it was paused is not made up for; who wrote it stays one of its requesters.
      expect(made).toMatchObject({
        scheduled_for: new Date(first.nextRunAt + DAY_MS),
        created_by: { id: heir.memberId },
      });
      expect(made!.requester_ids).toEqual([member.memberId, heir.memberId]);
    }
  });
});

it('pauses what cannot be handed in, after its tries, and lets no other wait for it', async () => {
  const desk = await atNoon();
  const broken = await desk.schedule();
  const sound = await desk.schedule();
  await test.rows(
    `create function public.refuse() returns trigger language plpgsql as $$ begin
       if new.schedule_id = '${broken.scheduleId}' then raise exception 'refused'; end if; return new; end $$`,
  );
  await test.rows(
    'create trigger refuse before insert on directives for each row execute function public.refuse()',
  );
  desk.at(broken.nextRunAt);
  await desk.handled(sound.scheduleId);
  expect(await desk.made(sound.scheduleId)).toHaveLength(1);
  const exhausted = () =>
    test.rows(
      `update work_items set failures = 7, due_at = now() where kind = 'schedule.run' and id = $1 and not claimed returning id`,
      [broken.scheduleId],
    );
  await eventually(exhausted, ({ length }) => length === 1);
  const after = await desk.handled(broken.scheduleId);
  expect(after).toMatchObject({
    status: 'paused',
    pausedReason: 'It could not hand in its directive. An unexpected error occurred (P0001).',
  });
  expect(await desk.made(broken.scheduleId)).toEqual([]);
  await test.rows('drop function public.refuse cascade');
});
