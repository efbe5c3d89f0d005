import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/platform/auth/caller.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { TeamDesk } from './team-desk.js';

let desk: TeamDesk;
beforeAll(async () => {
  desk = await TeamDesk.open();
});
afterAll(() => desk.test.close());

const change = (by: { send: any }, uid: string, role: Role) => by.send('PATCH', `/members/${uid}`, { role });

describe('GET /members', () => {
  it('200: shows members with their teams, and those who were removed when asked', async () => {
    const member = await desk.member('operator', { [desk.teamA]: 'admin' });
    const { items } = (await desk.owner.get('/members?limit=100')).body;
    expect(items.find((one: any) => one.memberId === member.memberId)).toEqual({
      memberId: member.memberId,
      userId: expect.stringMatching(/^usr_/),
      email: expect.any(String),
      displayName: expect.any(String),
      role: 'operator',
      teams: [{ teamId: desk.teamA, role: 'admin' }],
      status: 'active',
      joinedAt: expect.any(Number),
      lastSeenAt: null,
    });
    await desk.owner.delete(`/members/${member.memberId}`);
    const ids = async (status: string) =>
      (await desk.owner.get(`/members?limit=100&status=${status}`)).body.items.map(
        (one: any) => one.memberId,
      );
    expect(await ids('active')).not.toContain(member.memberId);
    expect(await ids('removed')).toContain(member.memberId);
  });

  it('403: for whoever is not owner or admin of the workspace, the admin of a team too', async () => {
    const member = await desk.member('operator', { [desk.teamA]: 'admin' });
    expect((await member.get('/members')).status).toBe(403);
  });
});

describe('PATCH /members/{uid}', () => {
  it('200: changes the role, by the id of the membership or the user, with one receipt however often', async () => {
    const member = await desk.member('viewer');
    const { userId } = (await change(desk.owner, member.memberId, 'operator')).body;
    expect((await change(desk.owner, userId, 'operator')).body).toMatchObject({
      memberId: member.memberId,
      role: 'operator',
    });
    expect(await desk.receipts(member.memberId)).toEqual(['member.role_changed']);
    expect((await member.post('/directive', { text: 'x' })).status).toBe(201);
  });

  it('grants and takes away as CONTRACT section 4 has it: every role by every role', async () => {
    const outcomes: Record<string, number> = {};
    const wanted: Record<string, number> = {};
    for (const by of ['viewer', 'operator', 'admin', 'owner'] as const) {
      const caller = await desk.member(by, { [desk.teamA]: 'admin' });
      for (const old of ['viewer', 'admin', 'owner'] as const) {
        for (const role of ['operator', 'admin', 'owner'] as const) {
          const target = await desk.member(old);
          const { status } = await change(caller, target.memberId, role);
          const touchesPower = [old, role].some((one) => one === 'admin' || one === 'owner');
          wanted[`${by}: ${old} to ${role}`] =
            by === 'owner' || (by === 'admin' && !touchesPower) ? 200 : 403;
          outcomes[`${by}: ${old} to ${role}`] = status;
          const [row] = await desk.test.rows('select role from members where member_id = $1', [
            target.memberId,
          ]);
          expect(row!['role']).toBe(status === 200 ? role : old);
        }
      }
    }
    expect(outcomes).toEqual(wanted);
  });

  it('404: for a member of another workspace, a removed one, and none', async () => {
    const other = await TeamDesk.open(desk.test);
    const stranger = await other.member('viewer');
    const removed = await desk.member('viewer');
    await desk.owner.delete(`/members/${removed.memberId}`);
    for (const uid of [stranger.memberId, removed.memberId, newId('mem'), newId('usr'), 'x']) {
      expect((await change(desk.owner, uid, 'operator')).status, uid).toBe(404);
      expect((await desk.owner.delete(`/members/${uid}`)).status, uid).toBe(404);
    }
  });

  it('409: for the last owner, whoever asks', async () => {
    const { owner, workspaceId } = await desk.test.createWorkspace();
    const { memberId } = (await owner.get('/profile')).body.operator;
    for (const answer of [
      await change(owner, memberId, 'admin'),
      await owner.delete(`/members/${memberId}`),
    ]) {
      expect([answer.status, answer.body.error.code]).toEqual([409, 'LAST_OWNER']);
    }
    const second = await desk.test.createMember(workspaceId, 'owner');
    expect((await change(owner, memberId, 'admin')).status).toBe(200);
    expect((await change(second, second.memberId, 'viewer')).status).toBe(409);
  });

  it('422: for a role that is none', async () => {
    const member = await desk.member('viewer');
    for (const role of ['root', 'Owner', null, 7]) {
      expect((await change(desk.owner, member.memberId, role as Role)).status).toBe(422);
    }
  });
});

describe('DELETE /members/{uid}', () => {
  it('200: ends memberships, revokes every token, and leaves receipts', async () => {
    const member = await desk.member('operator', { [desk.teamA]: 'operator', [desk.teamB]: 'admin' });
    await desk.owner.post('/tokens', { name: 'second', memberId: member.memberId });
    const { status, body } = await desk.owner.delete(`/members/${member.memberId}`);
    expect([status, body.status, body.teams]).toEqual([200, 'removed', []]);
    const rows = (sql: string) => desk.test.rows(sql, [member.memberId]);
    expect(await rows('select 1 from team_members where member_id = $1')).toEqual([]);
    expect(await rows('select 1 from tokens where member_id = $1 and revoked_at is null')).toEqual([]);
    expect(await desk.receipts(member.memberId)).toEqual(['member.removed']);
  });

  it('403: an admin removes neither an owner nor another admin', async () => {
    const admin = await desk.member('admin');
    for (const role of ['owner', 'admin'] as const) {
      const target = await desk.member(role);
      expect((await admin.delete(`/members/${target.memberId}`)).status).toBe(403);
    }
    expect((await admin.delete(`/members/${(await desk.member('operator')).memberId}`)).status).toBe(200);
  });

  it('does once what is asked twice under one Idempotency-Key', async () => {
    const member = await desk.member('viewer');
    const key = { 'Idempotency-Key': newId('req') };
    const first = await desk.owner.delete(`/members/${member.memberId}`, key);
    const second = await desk.owner.delete(`/members/${member.memberId}`, key);
    expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([
      200,
      200,
      'true',
    ]);
    // What is kept for a member who was removed is not replayed to their token.
    const own = { 'Idempotency-Key': newId('req') };
    const leaver = await desk.member('operator');
    expect((await leaver.post('/directive', { text: 'x' }, own)).status).toBe(201);
    await desk.owner.delete(`/members/${leaver.memberId}`);
    expect((await leaver.post('/directive', { text: 'x' }, own)).status).toBe(401);
  });
});

describe('POST /members', () => {
  it('403 for a role above what one may grant, 409 for a member', async () => {
    const admin = await desk.member('admin');
    expect((await admin.post('/members', { email: 'a@example.com', role: 'owner' })).status).toBe(403);
    expect((await admin.post('/members', { email: 'a@example.com', role: 'admin' })).status).toBe(403);
    expect((await admin.post('/members', { email: 'a@example.com', role: 'operator' })).status).toBe(201);
    const { email } = (await admin.get('/profile')).body.operator;
    const answer = await desk.owner.post('/members', { email, role: 'viewer' });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'ALREADY_EXISTS']);
  });
});
