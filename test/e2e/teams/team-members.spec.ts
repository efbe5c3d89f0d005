import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { TeamDesk } from './team-desk.js';

let desk: TeamDesk;
beforeAll(async () => {
  desk = await TeamDesk.open();
});
afterAll(() => desk.test.close());

const members = (teamId = desk.teamA) => `/teams/${teamId}/members`;
const emailOf = async (memberId: string) =>
  (
    await desk.test.rows<{ email: string }>(
      'select email from users join members using (user_id) where member_id = $1',
      [memberId],
    )
  )[0]!.email;

describe('GET /teams/{id}/members', () => {
  it('200: shows a team its members, without their other teams', async () => {
    const viewer = await desk.member('viewer', { [desk.teamA]: 'viewer' });
    const both = await desk.member('operator', { [desk.teamA]: 'operator', [desk.teamB]: 'admin' });
    const shown = (await viewer.get(members())).body.items.find((one: any) => one.memberId === both.memberId);
    expect(shown).toMatchObject({ role: 'operator', teams: [{ teamId: desk.teamA, role: 'operator' }] });
    const whole = (await desk.owner.get(members())).body.items.find(
      (one: any) => one.memberId === both.memberId,
    );
    expect(whole.teams).toHaveLength(2);
    const page = (await viewer.get(`${members()}?limit=1`)).body;
    expect(page).toMatchObject({ total: 2, limit: 1, nextCursor: expect.any(String) });
    expect((await viewer.get(`${members()}?limit=1&cursor=${page.nextCursor}`)).body.items).toHaveLength(1);
  });

  it('404: for a member of another team, of none, and of another workspace', async () => {
    const other = await TeamDesk.open(desk.test);
    const callers = [
      await desk.member('operator', { [desk.teamB]: 'admin' }),
      await desk.member('operator'),
      other.owner,
    ];
    for (const caller of callers) expect((await caller.get(members())).status).toBe(404);
  });
});

describe('POST /teams/{id}/members: 201', () => {
  it('adds a member of the workspace at once, by an address in any case, and mails nothing', async () => {
    const member = await desk.member('viewer');
    const mails = await desk.mails();
    const email = (await emailOf(member.memberId)).toUpperCase();
    const { status, body } = await desk.owner.post(members(), { email, role: 'operator' });
    expect([status, body]).toEqual([
      201,
      {
        member: expect.objectContaining({
          memberId: member.memberId,
          teams: [{ teamId: desk.teamA, role: 'operator' }],
        }),
      },
    ]);
    expect(await desk.receipts(member.memberId)).toEqual(['team.member_added']);
    expect(await desk.mails()).toEqual(mails);
    expect((await member.post('/directive', { text: 'x', teamId: desk.teamA })).status).toBe(201);
  });

  it('invites who is no member, even with an account elsewhere, whom nobody can make a member unasked', async () => {
    const other = await TeamDesk.open(desk.test);
    const stranger = await other.member('operator');
    const email = await emailOf(stranger.memberId);
    const { status, body } = await desk.owner.post(members(), { email, role: 'viewer' });
    expect([status, Object.keys(body)]).toEqual([201, ['invite']]);
    expect(body.invite).toEqual({
      inviteId: expect.stringMatching(/^inv_/),
      teamId: desk.teamA,
      email,
      name: null,
      role: 'viewer',
      status: 'pending',
      mail: { status: 'queued', error: null },
      invitedBy: expect.objectContaining({ type: 'member', via: 'api' }),
      createdAt: expect.any(Number),
      expiresAt: body.invite.createdAt + 7 * 86_400_000,
    });
    expect(
      await desk.test.rows(
        'select 1 from members where workspace_id = $1 and user_id = (select user_id from users where email = $2)',
        [desk.workspaceId, email],
      ),
    ).toEqual([]);
  });

  it('lets the admin of a team manage that team, and no other', async () => {
    const admin = await desk.member('viewer', { [desk.teamA]: 'admin', [desk.teamB]: 'operator' });
    const member = await desk.member('viewer', { [desk.teamB]: 'viewer' });
    const email = await emailOf(member.memberId);
    const invited = await admin.post(members(), { email: 'by-a-team-admin@example.com', role: 'admin' });
    expect([invited.status, Object.keys(invited.body)]).toEqual([201, ['invite']]);
    await desk.owner.post(members(), { email, role: 'admin' });
    const own = `${members()}/${member.memberId}`;
    expect((await admin.send('PATCH', own, { role: 'viewer' })).body.teams).toHaveLength(2);
    expect((await admin.delete(own)).status).toBe(200);
    const before = await desk.stored();
    const foreign = `${members(desk.teamB)}/${member.memberId}`;
    for (const { status } of [
      await admin.post(members(desk.teamB), { email: 'x@example.com', role: 'viewer' }),
      await admin.send('PATCH', foreign, { role: 'operator' }),
      await admin.delete(foreign),
    ]) {
      expect(status).toBe(403);
    }
    expect(await desk.stored()).toBe(before);
  });
});

describe('POST /teams/{id}/members: 403 and 404', () => {
  it('for everyone who does not manage the team, before anything is written', async () => {
    const before = { operator: 403, outsider: 404, nobody: 403 };
    const callers = {
      operator: await desk.member('operator', { [desk.teamA]: 'operator', [desk.teamB]: 'admin' }),
      outsider: await desk.member('operator', { [desk.teamB]: 'admin' }),
      nobody: await desk.member('operator'),
    };
    const kept = await desk.stored();
    for (const [who, status] of Object.entries(before)) {
      const answer = await callers[who as keyof typeof callers].post(members(), {
        email: 'z@example.com',
        role: 'viewer',
      });
      expect(answer.status, who).toBe(status);
    }
    expect(await desk.stored()).toBe(kept);
  });
});

describe('POST /teams/{id}/members: 409, 422 and 429', () => {
  it('409 for who is in the team, and for who is invited to it', async () => {
    const member = await desk.member('viewer', { [desk.teamA]: 'viewer' });
    const answers = [
      await desk.owner.post(members(), { email: await emailOf(member.memberId), role: 'viewer' }),
      await desk
        .invite('again@example.com')
        .then(() => desk.owner.post(members(), { email: 'AGAIN@example.com', role: 'viewer' })),
    ];
    for (const answer of answers)
      expect([answer.status, answer.body.error.code]).toEqual([409, 'ALREADY_EXISTS']);
    // To another team it is another invite.
    expect(
      (await desk.owner.post(members(desk.teamB), { email: 'again@example.com', role: 'viewer' })).status,
    ).toBe(201);
  });

  it('409 when as many invites are open as may be, in all teams together', async () => {
    const other = await TeamDesk.open(desk.test);
    await desk.test.rows(
      `insert into invites (invite_id, workspace_id, team_id, email, role, token_hash, mails, invited_by, created_at, expires_at)
       select app.new_id('inv'), $1, $2, 'n' || n || '@example.com', 'viewer', $1 || n, '{}', '{}', now(), now() + interval '1 day'
       from generate_series(1, 200) n`,
      [other.workspaceId, other.teamB],
    );
    const admin = await other.member('viewer', { [other.teamA]: 'admin' });
    const answer = await admin.post(members(other.teamA), { email: 'x@example.com', role: 'viewer' });
    expect(answer.body.error).toMatchObject({
      code: 'LIMIT_REACHED',
      details: { what: 'open invites', limit: 200 },
    });
  });

  it.each([
    ['no address', { email: 'nobody', role: 'viewer' }],
    ['a name with an address', { email: 'Jo <jo@example.com>', role: 'viewer' }],
    ['two addresses', { email: 'a@example.com,b@example.com', role: 'viewer' }],
    ['a line break', { email: 'a@example.com\r\nBcc: b@example.com', role: 'viewer' }],
    ['an address of 300 characters', { email: `${'a'.repeat(290)}@example.com`, role: 'viewer' }],
    ['a role that no team has', { email: 'a@example.com', role: 'owner' }],
    ['a role that is none', { email: 'a@example.com', role: 'Admin' }],
  ])('422 for %s, and nothing is made', async (_what, body) => {
    const before = await desk.stored();
    const answer = await desk.owner.post(members(), body);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'VALIDATION_FAILED']);
    expect(await desk.stored()).toBe(before);
  });

  it('429 when an address was mailed ten invites in a day, by whomever', async () => {
    const email = 'flooded@example.com';
    for (let n = 0; n < 5; n++) {
      const other = await TeamDesk.open(desk.test);
      await other.invite(email);
      await other.invite(email, { teamId: other.teamB });
    }
    const before = await desk.stored();
    const answer = await desk.owner.post(members(), { email, role: 'viewer' });
    expect(answer.body.error).toMatchObject({
      code: 'RATE_LIMITED',
      details: { policy: 'invite-mails', limit: 10 },
    });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(86_000);
    expect(await desk.stored()).toBe(before);
  });
});

describe('DELETE /teams/{id}/members/{uid}', () => {
  it('200: a member of the workspace stays one', async () => {
    const member = await desk.member('operator', { [desk.teamA]: 'operator' });
    const { status, body } = await desk.owner.delete(`${members()}/${member.memberId}`);
    expect([status, body.status, body.teams]).toEqual([200, 'active', []]);
    expect((await member.get('/profile')).status).toBe(200);
    expect(await desk.receipts(member.memberId)).toEqual(['team.member_removed']);
  });

  it('200: who was invited to teams alone leaves the workspace with the last of them, tokens and all', async () => {
    const { inviteId } = await desk.invite('guest@example.com');
    const { memberId } = (await desk.accept(await desk.token(inviteId))).body;
    const { token } = (await desk.owner.post('/tokens', { name: 'x', memberId })).body;
    await desk.owner.post(members(desk.teamB), { email: 'guest@example.com', role: 'viewer' });
    expect((await desk.owner.delete(`${members()}/${memberId}`)).body.status).toBe('active');
    expect((await desk.owner.delete(`${members(desk.teamB)}/${memberId}`)).body.status).toBe('removed');
    const guest = Object.assign(desk.anyone, { token });
    expect((await guest.post('/guardian/kill-switch')).status).toBe(401);
    expect(await desk.receipts(memberId)).toContain('member.removed');
  });

  it('404: for who is not in the team, twice as well', async () => {
    const member = await desk.member('viewer', { [desk.teamB]: 'viewer' });
    for (const uid of [member.memberId, newId('mem'), 'x']) {
      expect((await desk.owner.delete(`${members()}/${uid}`)).status).toBe(404);
      expect((await desk.owner.send('PATCH', `${members()}/${uid}`, { role: 'viewer' })).status).toBe(404);
    }
  });
});
