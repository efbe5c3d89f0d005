import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { leaveActionRequest } from '../action-requests/action-request-rows.js';
import { Desk } from '../directives/desk.js';
import { leaveQuestion } from '../approvals/question-rows.js';
import { SignalDesk } from '../records/signal-desk.js';
import { Client } from '../../support/client.js';
import { eventually } from '../../support/test-app.js';
import { TeamDesk } from './team-desk.js';

const MEMO = 'File this memo for the board: The delivery delays end on Friday.';

let desk: TeamDesk;
beforeAll(async () => {
  desk = await TeamDesk.open();
});
afterAll(() => desk.test.close());

/** A team of its own with something of everything that can be open, and something that has ended. */
async function busyTeam(name: string) {
  const teamId = await desk.test.createTeam(desk.workspaceId, name);
  const member = await desk.member('operator', { [teamId]: 'admin' });
  const work = new Desk(desk.test, member.token);
  const ended = await work.handInReady({ text: MEMO, capo: 'capo_ops', teamId });
  await member.post(`/approvals/${ended.approvalId}/reject`, { feedback: 'No.' });
  const open = await work.handInReady({ text: MEMO, capo: 'capo_ops', teamId });
  const order = async (effect: string) =>
    (
      await member.post('/standing-orders', {
        name: `${name} ${effect}`,
        effect,
        match: { actionTypes: ['document.file'], fields: { 'params.title': { $eq: name } } },
        teamId,
      })
    ).body.standingOrderId as string;
  const orders = { allow: await order('allow'), deny: await order('deny') };
  const signalId = await new SignalDesk(desk.test).raise({ teamId }, desk.workspaceId);
  return { teamId, member, ended, open, orders, signalId };
}

const archive = (teamId: string, body: object, by: Client = desk.owner) =>
  by.post(`/teams/${teamId}/archive`, body);
const OPEN = { directives: 1, approvals: 1, workPackets: 1, standingOrders: 2, actionRequests: 0 };

/** Everything that has a team. */
const stored = async () => {
  const all = [await desk.stored()];
  for (const table of ['directives', 'approvals', 'work_packets', 'standing_orders', 'receipts']) {
    all.push(
      JSON.stringify(
        await desk.test.rows(`select t::text as row from ${table} t where workspace_id = $1 order by 1`, [
          desk.workspaceId,
        ]),
      ),
    );
  }
  return all.join('\n');
};

describe('POST /teams/{id}/archive: 409', () => {
  it('with open work and no moveTo, with the counts, and nothing changes', async () => {
    const { teamId } = await busyTeam('Stays');
    const before = await stored();
    const answer = await archive(teamId, {});
    expect(answer.body.error).toMatchObject({ status: 409, code: 'TEAM_HAS_OPEN_WORK', details: OPEN });
    expect(await stored()).toBe(before);
  });

  it('while a work packet of it is being sent, and nothing changes', async () => {
    const { teamId } = await busyTeam('Sends');
    await desk.test.rows(
      `update work_packets set status = 'sending' where team_id = $1 and status = 'awaiting_approval'`,
      [teamId],
    );
    const before = await stored();
    const answer = await archive(teamId, { moveTo: null });
    expect(answer.body.error).toMatchObject({
      status: 409,
      code: 'INVALID_TRANSITION',
      details: { sending: 1 },
    });
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await stored()).toBe(before);
  });

  it('when a work packet of it begins to be sent while it waits for the locks', async () => {
    const { teamId, open } = await busyTeam('Begins');
    const before = await stored();
    const sender = await desk.test.database.owner.connect();
    try {
      // As the worker does it: the directive first, then the work packet.
      await sender.query('begin');
      await sender.query('select from directives where directive_id = $1 for no key update', [
        open.directiveId,
      ]);
      await sender.query(
        `update work_packets set status = 'sending' where directive_id = $1 and status = 'awaiting_approval'`,
        [open.directiveId],
      );
      const answer = archive(teamId, { moveTo: null }, new Client(desk.test.url, desk.owner.token));
      await eventually(async () =>
        (
          await desk.test.rows(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).at(0),
      );
      await sender.query('commit');
      expect((await answer).body.error).toMatchObject({
        status: 409,
        code: 'INVALID_TRANSITION',
        details: { sending: 1 },
      });
    } finally {
      sender.release();
    }
    await desk.test.rows(
      `update work_packets set status = 'awaiting_approval' where directive_id = $1 and status = 'sending'`,
      [open.directiveId],
    );
    expect(await stored()).toBe(before);
  });

  it('for one that is archived already; it can neither be renamed nor joined', async () => {
    const teamId = await desk.test.createTeam(desk.workspaceId, 'Over');
    expect((await archive(teamId, {})).status).toBe(200);
    for (const answer of [
      await archive(teamId, {}),
      await desk.owner.send('PATCH', `/teams/${teamId}`, { name: 'Back' }),
      await desk.owner.post(`/teams/${teamId}/members`, { email: 'a@example.com', role: 'viewer' }),
    ]) {
      expect([answer.status, answer.body.error.code]).toEqual([409, 'INVALID_TRANSITION']);
    }
    // Its name is free, and it is listed apart.
    expect((await desk.owner.post('/teams', { name: 'OVER' })).status).toBe(201);
    expect((await desk.owner.get('/teams')).text).not.toContain(teamId);
    expect((await desk.owner.get('/teams?status=archived')).text).toContain(teamId);
  });
});

describe('POST /teams/{id}/archive: 200', () => {
  it('moves what is open to the team that is named, which then decides it; what has ended stays', async () => {
    const { teamId, member, ended, open, orders, signalId } = await busyTeam('Goes');
    const heir = await desk.member('operator', { [desk.teamB]: 'operator' });
    expect((await heir.get(`/directives/${open.directiveId}`)).status).toBe(404);
    const { status, body } = await archive(teamId, { moveTo: desk.teamB });
    expect([status, body]).toEqual([
      200,
      {
        team: expect.objectContaining({ teamId, memberCount: 0, archivedAt: expect.any(Number) }),
        movedTo: desk.teamB,
        moved: OPEN,
        pausedOrders: 1,
        removedMembers: 0,
      },
    ]);
    // What its members could do they can no more.
    expect((await member.get(`/directives/${open.directiveId}`)).status).toBe(404);
    expect((await member.post('/directive', { text: 'x', teamId })).status).toBe(404);
    expect((await heir.get(`/directives/${open.directiveId}`)).body).toMatchObject({
      teamId: desk.teamB,
      status: 'pending_approval',
    });
    expect((await heir.get(`/directives/${ended.directiveId}`)).status).toBe(404);
    const teamOf = async (table: string, id: string, key: string) =>
      (await desk.test.rows(`select team_id from ${table} where ${key} = $1`, [id]))[0]!['team_id'];
    expect(await teamOf('directives', ended.directiveId, 'directive_id')).toBe(teamId);
    expect(await teamOf('signals', signalId, 'signal_id')).toBe(teamId);
    const statuses = await desk.test.rows(
      'select standing_order_id, status, team_id from standing_orders where standing_order_id = any($1) order by effect',
      [[orders.allow, orders.deny]],
    );
    // An order that allows is allowed again by somebody there; one that denies goes on to deny.
    expect(statuses).toEqual([
      { standing_order_id: orders.allow, status: 'paused', team_id: desk.teamB },
      { standing_order_id: orders.deny, status: 'active', team_id: desk.teamB },
    ]);
    // Whose it is belongs to what an order says: the move is a version, with its rule in the receipt.
    const versions = await desk.test.rows(
      `select v.version, v.team_id, v.hash = o.hash as is_current from standing_order_versions v
       join standing_orders o using (workspace_id, standing_order_id)
       where v.standing_order_id = $1 order by v.version`,
      [orders.deny],
    );
    expect(versions).toEqual([
      { version: 1, team_id: teamId, is_current: false },
      { version: 2, team_id: desk.teamB, is_current: true },
    ]);
    const [moved] = await desk.test.rows<{ body: string }>(
      `select body from receipts where entity_id = $1 and action = 'standing_order.moved'`,
      [orders.deny],
    );
    expect(JSON.parse(moved!.body).details).toMatchObject({
      ...{ version: 2, from: teamId, to: desk.teamB, isPaused: false },
      rule: { teamId: desk.teamB },
    });
    expect(await desk.receipts(open.directiveId)).toContain('directive.moved');
    expect(await desk.receipts(orders.allow)).toContain('standing_order.moved');
    expect((await desk.receipts(teamId)).at(-1)).toBe('team.archived');
    // The team that has it now hears of it, and of nothing else.
    const feed = (await heir.get('/audit-feed?limit=100')).text;
    expect([feed.includes('directive.moved'), feed.includes('team.archived')]).toEqual([true, false]);
    expect((await heir.post(`/approvals/${open.approvalId}/approve`)).status).toBe(200);
    await new Desk(desk.test, heir.token).until(open.directiveId, 'executed');
  });

  it('moves what agents asked for, with what is escalated about it, and the team that has it decides', async () => {
    const teamId = await desk.test.createTeam(desk.workspaceId, 'Agents');
    const asks = await desk.member('operator', { [teamId]: 'operator' });
    const heir = await desk.member('operator', { [desk.teamB]: 'operator' });
    const request = (by: Client, id: string, act = '', body?: object) =>
      body ? by.post(`/action-requests/${id}${act}`, body) : by.get(`/action-requests/${id}`);
    const consumed = async () => {
      const { actionRequestId, approvalId, paramsHash } = await leaveActionRequest(asks, { teamId });
      expect((await asks.post(`/approvals/${approvalId}/approve`)).status).toBe(200);
      const attempt = newId('req').padEnd(30, 'x');
      expect((await request(asks, actionRequestId, '/consume', { attempt, paramsHash })).status).toBe(200);
      return actionRequestId;
    };
    const silent = await consumed();
    desk.test.clock.advance(901_000);
    const escalation = await eventually(async () =>
      (await asks.get('/escalations')).body.items.find((one: any) => one.entity.id === silent),
    );
    const running = await consumed();
    const [first, second] = [
      await leaveActionRequest(asks, { teamId }),
      await leaveActionRequest(asks, { teamId }),
    ];
    const question = await leaveQuestion(asks, { teamId });
    const open = { directives: 0, approvals: 3, workPackets: 0, standingOrders: 0, actionRequests: 3 };
    expect((await archive(teamId, {})).body.error).toMatchObject({
      code: 'TEAM_HAS_OPEN_WORK',
      details: open,
    });

    const { status, body } = await archive(teamId, { moveTo: desk.teamB });
    expect([status, body.moved]).toEqual([200, open]);
    for (const id of [silent, running, first.actionRequestId, second.actionRequestId]) {
      expect((await request(heir, id)).body.teamId).toBe(desk.teamB);
      expect((await desk.receipts(id)).at(-1)).toBe('action.moved');
    }
    expect((await desk.receipts(question.approvalId)).at(-1)).toBe('approval.moved');
    const decide = (approvalId: string, how: string, more?: object) =>
      heir.post(`/approvals/${approvalId}/${how}`, more);
    expect((await decide(first.approvalId, 'approve')).body.status).toBe('approved');
    expect((await decide(second.approvalId, 'reject', { feedback: 'No.' })).body.status).toBe('rejected');
    const answered = await decide(question.approvalId, 'respond', { answer: { plan: 'pro' } });
    expect(answered.status, answered.text).toBe(200);
    const dismissed = await heir.post('/escalations/decide', {
      escalationId: escalation.escalationId,
      decision: 'dismiss',
    });
    expect(dismissed.status, dismissed.text).toBe(200);
  });

  it('moves it to no team for null, and the numbers of each team stay right', async () => {
    const { teamId, open } = await busyTeam('Nowhere');
    expect((await archive(teamId, { moveTo: null })).body).toMatchObject({ movedTo: null, moved: OPEN });
    const anyone = await desk.member('operator');
    expect((await anyone.get(`/directives/${open.directiveId}`)).body.teamId).toBeNull();
    const tallies = `select kind, key, team_id, sum(n)::int as n from (
        select kind, key, team_id, n from tallies where workspace_id = $1 and team_id <> '*' union all
        select kind, key, coalesce(team_id, ''), n from tally_changes where workspace_id = $1) t
      where kind in ('directives', 'packets', 'approvals') group by 1, 2, 3 having sum(n) <> 0 order by 1, 2, 3`;
    const counted = await desk.test.rows(tallies, [desk.workspaceId]);
    await desk.test.rows('select app.recount_tallies()');
    expect(counted).toEqual(await desk.test.rows(tallies, [desk.workspaceId]));
  });

  it('withdraws its invites, and lets go of those who were there for it alone', async () => {
    const teamId = await desk.test.createTeam(desk.workspaceId, 'Guests');
    const joined = await desk.invite('joined@example.com', { teamId });
    const { memberId } = (await desk.accept(await desk.token(joined.inviteId))).body;
    const waiting = await desk.invite('waiting@example.com', { teamId });
    const token = await desk.token(waiting.inviteId);
    await eventually(async () => (await desk.receipts(waiting.inviteId)).includes('invite.mailed'));
    expect((await archive(teamId, {})).body).toMatchObject({ removedMembers: 1 });
    expect((await desk.accept(token)).status).toBe(410);
    expect(await desk.test.rows('select status from members where member_id = $1', [memberId])).toEqual([
      { status: 'removed' },
    ]);
    // Each invite says what became of it; one that was accepted stays accepted.
    expect(await desk.receipts(waiting.inviteId)).toEqual([
      'invite.created',
      'invite.mailed',
      'invite.withdrawn',
    ]);
    expect(await desk.receipts(joined.inviteId)).not.toContain('invite.withdrawn');
  });

  it('sends no mail for an invite to it that has not left yet, and forgets its token', async () => {
    const teamId = await desk.test.createTeam(desk.workspaceId, 'Unmailed');
    const { inviteId } = await desk.invite('unmailed@example.com', { teamId });
    await eventually(async () => (await desk.receipts(inviteId)).includes('invite.mailed'));
    // As if its mail was to be tried again in an hour.
    await desk.test.rows(
      `update invites set mail_status = 'queued', sealed_token = 'x' where invite_id = $1`,
      [inviteId],
    );
    await desk.test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at)
       values ('invite.mail', $1, $2, $2, now() + interval '1 hour')`,
      [inviteId, desk.workspaceId],
    );
    expect((await archive(teamId, {})).status).toBe(200);
    expect(await desk.test.rows('select 1 from work_items where id = $1', [inviteId])).toEqual([]);
    expect(
      await desk.test.rows('select status, sealed_token from invites where invite_id = $1', [inviteId]),
    ).toEqual([{ status: 'withdrawn', sealed_token: null }]);
  });

  it('leaves nothing open in the team, whatever comes at the same time', { timeout: 60_000 }, async () => {
    const { teamId, member } = await busyTeam('Races');
    const acts = Array.from(
      { length: 20 },
      (_, n) =>
        new Promise<number>((resolve) =>
          setTimeout(
            () =>
              void new Client(desk.test.url, member.token)
                .post('/directive', { text: MEMO, capo: 'capo_ops', teamId })
                .then(({ status }) => resolve(status)),
            n * 4,
          ),
        ),
    );
    const archived = await eventually(
      () => archive(teamId, { moveTo: desk.teamA }, new Client(desk.test.url, desk.owner.token)),
      ({ status }) => status === 200,
    );
    expect(archived.body.movedTo).toBe(desk.teamA);
    const statuses = await Promise.all(acts);
    expect(statuses.every((status) => [201, 404].includes(status))).toBe(true);
    const left = await desk.test.rows(
      `select 1 from directives where team_id = $1 and status in ('pending_approval', 'queued', 'executing', 'sending')`,
      [teamId],
    );
    expect(left).toEqual([]);
  });
});

describe('POST /teams/{id}/archive: 404 and 422', () => {
  it('404 for a team of another workspace, as what is archived and as where it goes', async () => {
    const other = await TeamDesk.open(desk.test);
    const { teamId } = await busyTeam('Here');
    const before = await stored();
    expect((await archive(other.teamA, {})).status).toBe(404);
    expect((await archive(teamId, { moveTo: other.teamA })).status).toBe(404);
    expect((await archive(teamId, { moveTo: newId('team') })).status).toBe(404);
    expect(await stored()).toBe(before);
  });

  it('422 for itself, for an archived team, and for what is no id', async () => {
    const { teamId } = await busyTeam('Itself');
    const over = await desk.test.createTeam(desk.workspaceId, 'Archived');
    await archive(over, {});
    for (const moveTo of [teamId, over, 'Marketing', 7, '']) {
      expect((await archive(teamId, { moveTo })).status, String(moveTo)).toBe(422);
    }
  });
});

describe('a team that is archived though it has members', () => {
  it('gives them no role any more, and shows them none of its rows', async () => {
    const teamId = await desk.test.createTeam(desk.workspaceId, newId('team'));
    const member = await desk.member('viewer', { [teamId]: 'operator' });
    const handIn = () => new Desk(desk.test, member.token).client.post('/directive', { text: MEMO, teamId });
    const first = await handIn();
    expect(first.status, first.text).toBe(201);
    const look = () => member.get(`/directives/${first.body.directiveId}`);
    expect((await look()).status).toBe(200);

    await desk.test.rows('update teams set archived_at = now() where team_id = $1', [teamId]);
    await eventually(look, ({ status }) => status === 404);
    expect((await handIn()).status).toBe(403);
  });
});
