import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import type { TestMember } from '../../support/test-app.js';
import { PASSWORD, TeamDesk } from './team-desk.js';

/** What a member, or somebody who was one, may not get by way of teams, tokens and invites. */
let desk: TeamDesk;
beforeAll(async () => {
  desk = await TeamDesk.open();
});
afterAll(() => desk.test.close());

const code = ({ status, body }: { status: number; body: any }) => [status, body.error?.code];

async function emailOf({ memberId }: { memberId: string }): Promise<string> {
  const [row] = await desk.test.rows<{ email: string }>(
    'select email from users join members using (user_id) where member_id = $1',
    [memberId],
  );
  return row!.email;
}

/** Gives the member's account the password of these tests. */
async function givePassword(member: TestMember): Promise<string> {
  const email = `known-${member.memberId}@example.com`;
  const { inviteId } = await desk.invite(email);
  await desk.accept(await desk.token(inviteId));
  const own = await emailOf(member);
  await desk.test.rows(
    'update users set password_hash = (select password_hash from users where email = $2) where email = $1',
    [own, email],
  );
  return own;
}

const handIn = async (by: Client, more: object = {}) =>
  by.post('/directive', { text: 'Write to Ann', ...more });
const teamOf = async (directiveId: string) =>
  (await desk.test.rows('select team_id, status from directives where directive_id = $1', [directiveId]))[0]!;

describe('a team admin cannot pull anybody in', () => {
  it('invites a member of the workspace as anyone else: the same answer, and nobody is in the team', async () => {
    const admin = await desk.member('viewer', { [desk.teamA]: 'admin' });
    const operator = await desk.member('operator');
    const [known, unknown] = [await emailOf(operator), 'nobody-yet@example.com'];
    const answers = [];
    for (const email of [known, unknown]) {
      const { status, body } = await admin.post(`/teams/${desk.teamA}/members`, { email, role: 'viewer' });
      expect(body.invite.email).toBe(email);
      answers.push([
        status,
        Object.keys(body),
        Object.keys(body.invite),
        { ...body.invite, inviteId: 0, email: 0 },
      ]);
    }
    const plain = (answer: any) => ({ ...answer[3], createdAt: 0, expiresAt: 0 });
    expect(answers[0]!.slice(0, 3)).toEqual(answers[1]!.slice(0, 3));
    expect(plain(answers[0])).toEqual(plain(answers[1]));
    expect(
      await desk.test.rows('select 1 from team_members where member_id = $1', [operator.memberId]),
    ).toEqual([]);
  });

  it('the invited member joins by their password; who is in the team already is a 409', async () => {
    const admin = await desk.member('viewer', { [desk.teamA]: 'admin' });
    const operator = await desk.member('operator');
    const email = await givePassword(operator);
    const { inviteId } = await desk.invite(email, { by: admin });
    const token = await desk.token(inviteId);
    expect(code(await desk.accept(token, { password: 'not their password' }))).toEqual([
      409,
      'ACCOUNT_EXISTS',
    ]);
    expect((await desk.accept(token)).body.memberId).toBe(operator.memberId);
    const again = await admin.post(`/teams/${desk.teamA}/members`, { email, role: 'viewer' });
    expect(code(again)).toEqual([409, 'ALREADY_EXISTS']);
  });

  it('owner and admin hand in to no team unless they name one, whatever team they are in', async () => {
    for (const role of ['owner', 'admin'] as const) {
      const member = await desk.member(role, { [desk.teamA]: 'viewer' });
      for (const more of [{}, { teamId: null }]) {
        const { directiveId } = (await handIn(member, more)).body;
        expect((await teamOf(directiveId))['team_id']).toBeNull();
      }
      const named = (await handIn(member, { teamId: desk.teamB })).body;
      expect((await teamOf(named.directiveId))['team_id']).toBe(desk.teamB);
      const order = await member.post('/standing-orders', {
        name: 'Ask',
        effect: 'require_approval',
        match: { actionTypes: ['signal.raise'] },
      });
      expect([order.status, order.body.teamId], order.text).toEqual([201, null]);
    }
  });

  it('whoever handed a directive in may cancel it and reject its approval, in whatever team they are now', async () => {
    const operator = await desk.member('operator');
    const other = await desk.member('operator');
    const mine = [];
    for (let n = 0; n < 4; n++) mine.push((await handIn(operator)).body);
    const foreign = (await handIn(other)).body;
    await desk.owner.post(`/teams/${desk.teamA}/members`, { email: await emailOf(operator), role: 'viewer' });

    const cancelled = await operator.post(`/directives/${mine[0].directiveId}/cancel`);
    expect([cancelled.status, cancelled.body.status], cancelled.text).toEqual([200, 'cancelled']);
    const rejected = await operator.post(`/approvals/${mine[1].approvalId}/reject`, { feedback: 'No' });
    expect([rejected.status, rejected.body.status], rejected.text).toEqual([200, 'rejected']);
    const reject = (approvalId: string) => ({ approvalId, decision: 'reject', feedback: 'No' });
    const { results } = (
      await operator.post('/approvals', {
        decisions: [reject(mine[2].approvalId), reject(foreign.approvalId)],
      })
    ).body;
    expect(results).toEqual([
      expect.objectContaining({ status: 'rejected' }),
      expect.objectContaining({ error: expect.objectContaining({ code: 'NOT_FOUND' }) }),
    ]);
    for (const answer of [
      await operator.post(`/directives/${foreign.directiveId}/cancel`),
      await operator.post(`/approvals/${foreign.approvalId}/reject`, { feedback: 'No' }),
      await operator.post(`/approvals/${mine[3].approvalId}/approve`),
      await operator.post(`/approvals/${mine[3].approvalId}/reject`, { feedback: 'Again', revise: true }),
    ]) {
      expect(code(answer)).toEqual([404, 'NOT_FOUND']);
    }
  });

  it('and when they were taken out of the team that it belongs to', async () => {
    const operator = await desk.member('operator', { [desk.teamA]: 'operator' });
    const [one, two] = [(await handIn(operator)).body, (await handIn(operator)).body];
    expect((await teamOf(one.directiveId))['team_id']).toBe(desk.teamA);
    await desk.owner.delete(`/teams/${desk.teamA}/members/${operator.memberId}`);
    expect((await operator.post(`/directives/${one.directiveId}/cancel`)).status).toBe(200);
    const rejected = await operator.post(`/approvals/${two.approvalId}/reject`, { feedback: 'No' });
    expect([rejected.status, rejected.body.status]).toEqual([200, 'rejected']);
  });
});

describe('a removed member has nothing left', () => {
  it('no token that they made or rotated for somebody else, in any process', async () => {
    const admin = await desk.member('admin');
    const [holder, untouched] = [await desk.member('operator'), await desk.member('operator')];
    const make = async (by: TestMember, memberId?: string) =>
      (await by.post('/tokens', { name: 'Ledger', ...(memberId && { memberId }) })).body;
    const made = await make(admin, holder.memberId);
    const owners = await make(desk.owner, holder.memberId);
    const rotated = (await admin.post(`/tokens/${owners.tokenId}/rotate`)).body;
    const kept = await make(desk.owner, holder.memberId);
    const own = await make(admin);

    const { status, body } = await desk.owner.delete(`/members/${admin.memberId}`);
    expect([status, body.status]).toEqual([200, 'removed']);
    // The token of the desk, and the one that he made for himself, besides.
    expect(body.revokedTokens).toBe(4);
    const [receipt] = await desk.test.rows<{ body: string }>(
      `select body from receipts where entity_id = $1 and action = 'member.removed'`,
      [admin.memberId],
    );
    expect(JSON.parse(receipt!.body).details).toMatchObject({ revokedTokens: 4 });
    for (const { token } of [made, rotated, own]) {
      const answer = await new Client(desk.test.url, token).post('/directive', { text: 'x' });
      expect([answer.status, answer.body.reason]).toEqual([401, 'revoked_token']);
    }
    expect((await handIn(new Client(desk.test.url, kept.token))).status).toBe(201);
    expect((await handIn(untouched)).status).toBe(201);
  });

  it('no invite to their address, and none that they sent', async () => {
    const admin = await desk.member('admin');
    const email = await emailOf(admin);
    const invited: string[] = [];
    await desk.test.rows(`update members set status = 'removed' where member_id = $1`, [admin.memberId]);
    for (const path of [`/teams/${desk.teamA}/members`, `/teams/${desk.teamB}/members`]) {
      invited.push((await desk.owner.post(path, { email, role: 'operator' })).body.invite.inviteId);
    }
    invited.push((await desk.owner.post('/members', { email, role: 'owner' })).body.inviteId);
    await desk.test.rows(`update members set status = 'active' where member_id = $1`, [admin.memberId]);
    const sent = await desk.invite('by-the-removed@example.com', { by: admin });
    invited.push(sent.inviteId);
    const other = await desk.invite('by-the-owner@example.com');

    const { body } = await desk.owner.delete(`/members/${admin.memberId}`);
    expect(body.withdrawnInvites).toBe(4);
    for (const inviteId of invited) {
      const actions = (await desk.receipts(inviteId)).filter((action) => action !== 'invite.mailed');
      expect(actions).toEqual(['invite.created', 'invite.withdrawn']);
      expect(code(await desk.owner.post(`/invites/${inviteId}/resend`))).toEqual([409, 'INVALID_TRANSITION']);
    }
    const { items } = (await desk.owner.get('/invites?status=pending&limit=100')).body;
    const pending = items.map((one: any) => one.inviteId);
    expect(pending).toContain(other.inviteId);
    expect(pending.filter((inviteId: string) => invited.includes(inviteId))).toEqual([]);
  });

  it('neither when their only team lets them go, by its own admin', async () => {
    const admin = await desk.member('viewer', { [desk.teamA]: 'admin' });
    const { inviteId } = await desk.invite('only-a@example.com');
    const open = await desk.invite('only-a@example.com', { teamId: desk.teamB });
    const { body } = await desk.accept(await desk.token(inviteId));
    const removed = await admin.delete(`/teams/${desk.teamA}/members/${body.memberId}`);
    expect([removed.status, removed.body.status], removed.text).toEqual([200, 'removed']);
    const [row] = await desk.test.rows('select status from invites where invite_id = $1', [open.inviteId]);
    expect(row).toEqual({ status: 'withdrawn' });
  });
});

describe('a demoted member', () => {
  const statusOf = async (inviteId: string) =>
    (await desk.test.rows('select status from invites where invite_id = $1', [inviteId]))[0]!['status'];

  it('has no invite open that they could not send any more', async () => {
    const admin = await desk.member('admin', { [desk.teamA]: 'admin' });
    const invite = async (path: string, email: string) => {
      const { body } = await admin.post(path, { email, role: 'viewer' });
      return (body.invite ?? body).inviteId as string;
    };
    const a = await invite(`/teams/${desk.teamA}/members`, 'demoted-a@example.com');
    const b = await invite(`/teams/${desk.teamB}/members`, 'demoted-b@example.com');
    const whole = await invite('/members', 'demoted-c@example.com');
    await desk.owner.send('PATCH', `/members/${admin.memberId}`, { role: 'viewer' });
    expect([await statusOf(a), await statusOf(b), await statusOf(whole)]).toEqual([
      'pending',
      'withdrawn',
      'withdrawn',
    ]);
    await desk.owner.send('PATCH', `/teams/${desk.teamA}/members/${admin.memberId}`, { role: 'operator' });
    expect(await statusOf(a)).toBe('withdrawn');
    expect((await desk.receipts(a)).at(-1)).toBe('invite.withdrawn');
  });

  it('neither one who was taken out of the team, and stays in the workspace', async () => {
    const admin = await desk.member('viewer', { [desk.teamA]: 'admin' });
    const { inviteId } = await desk.invite('taken-out@example.com', { by: admin });
    await desk.owner.delete(`/teams/${desk.teamA}/members/${admin.memberId}`);
    expect(await statusOf(inviteId)).toBe('withdrawn');
  });
});

describe('the token of an acceptance', () => {
  const join = async (email: string) => {
    const { body } = await desk.owner.post('/members', { email, role: 'operator' });
    return (await desk.accept(await desk.token(body.inviteId))).body;
  };

  it('is another pair of eyes than the owner, whose own token for the member is not', async () => {
    const order = await desk.owner.post('/standing-orders', {
      name: 'A second person',
      effect: 'require_approval',
      match: {},
      approval: { selfApproval: false },
    });
    expect(order.status, order.text).toBe(201);
    const member = await join('second@example.com');
    expect(member.token).toMatchObject({
      token: expect.stringMatching(/^cons_/),
      name: 'from accepting the invite',
      memberId: member.memberId,
      madeBy: [],
      expiresAt: null,
    });
    const made = await desk.owner.post('/tokens', { name: 'Ledger', memberId: member.memberId });
    const handed = await desk.owner.post('/directive', {
      text: 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.',
    });
    const { approvalId } = handed.body;
    const { body: ready } = await desk.owner.get(`/approvals/${approvalId}?wait=30`);
    expect(ready.packets).toHaveLength(1);
    const approve = (token: string) =>
      new Client(desk.test.url, token).post(`/approvals/${approvalId}/approve`, {});
    expect((await approve(made.body.token)).status).toBe(403);
    const approved = await approve(member.token.token);
    expect(approved.status, approved.text).toBe(200);
  });

  it('stands in no receipt, and is listed without itself', async () => {
    const { memberId, token } = await join('listed@example.com');
    const { items } = (await desk.owner.get('/tokens?limit=100')).body;
    const listed = items.find((one: any) => one.tokenId === token.tokenId);
    expect(listed).toMatchObject({ memberId, hint: token.token.slice(-4), madeBy: [] });
    expect(listed).not.toHaveProperty('token');
    expect(await desk.receipts(token.tokenId)).toEqual(['token.created']);
    const stored = await desk.test.rows('select 1 from receipts where body like $1', [`%${token.token}%`]);
    expect(stored).toEqual([]);
  });

  it('is not made by the form unless it is asked for', async () => {
    const { inviteId } = await desk.invite('no-token@example.com');
    const page = await fetch(`${desk.test.url}/invites/${await desk.token(inviteId)}`, {
      method: 'POST',
      body: new URLSearchParams({ displayName: 'Ida', password: PASSWORD }),
      headers: { 'X-Forwarded-For': desk.anyone.address },
    });
    expect(page.status).toBe(200);
    expect(await page.text()).not.toContain('cons_');
    const made = `select 1 from tokens t join members m using (member_id) join users u on u.user_id = m.user_id
      where u.email = 'no-token@example.com'`;
    expect(await desk.test.rows(made)).toEqual([]);
  });

  it('is shown by the form to who asks for it, once', async () => {
    const { inviteId } = await desk.invite('form-token@example.com');
    const link = `${desk.test.url}/invites/${await desk.token(inviteId)}`;
    const fields = { displayName: 'Jo', password: PASSWORD, wantsToken: 'on' };
    const form = { method: 'POST', body: new URLSearchParams(fields) };
    const headers = { 'X-Forwarded-For': desk.anyone.address };
    const page = await fetch(link, { ...form, headers });
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const [token] = /cons_[A-Za-z0-9]+/.exec(await page.text())!;
    expect((await handIn(new Client(desk.test.url, token))).status).toBe(201);
    expect(await (await fetch(link, { ...form, headers })).text()).not.toContain('cons_');
  });
});

describe('a tier that a member has used up', () => {
  it('does not keep the member from being removed, and shows who is there', async () => {
    const { workspaceId, owner } = await desk.test.createWorkspace('free');
    const teamId = await desk.test.createTeam(workspaceId, 'Ops');
    const viewer = await desk.test.createMember(workspaceId, 'viewer', [teamId]);
    desk.test.clock.stopAtMinute();
    await desk.test.rows('insert into tier_days values ($1, $2, 100)', [
      workspaceId,
      new Date(desk.test.clock.now()).toISOString().slice(0, 10),
    ]);
    const caller = () => new Client(desk.test.url, (owner as TestMember).token);
    expect((await caller().get('/directives')).status).toBe(429);
    const gone = await caller().delete(`/teams/${teamId}/members/${viewer.memberId}`);
    expect(gone.status, gone.text).toBe(200);
    expect((await caller().delete(`/members/${viewer.memberId}`)).status).toBe(200);
    expect(code(await caller().delete(`/invites/${newId('inv')}`))).toEqual([404, 'NOT_FOUND']);
    for (const path of ['/members', '/tokens', '/invites']) {
      expect((await caller().get(path)).status, path).toBe(200);
    }
    desk.test.clock.goOn();
  });
});

describe('a change of a role', () => {
  const tokenFor = async (maker: Client, memberId: string): Promise<Client> => {
    const { status, body, text } = await maker.post('/tokens', { name: 'made for another', memberId });
    expect(status, text).toBe(201);
    return new Client(desk.test.url, body.token);
  };
  const opens = async (client: Client) => (await client.get('/profile')).status;

  it('revokes what somebody with a lower role has seen when its member rises', async () => {
    const maker = await desk.member('admin');
    const member = await desk.member('operator');
    const theirs = await tokenFor(maker, member.memberId);
    expect(await opens(theirs)).toBe(200);
    const { status } = await desk.owner.send('PATCH', `/members/${member.memberId}`, { role: 'owner' });
    expect(status).toBe(200);
    desk.test.clock.advance(1000);
    expect(await opens(theirs)).toBe(401);
    expect(await opens(member)).toBe(200);
    expect((await theirs.send('PATCH', `/members/${maker.memberId}`, { role: 'owner' })).status).toBe(401);
  });

  it('revokes what a member has made for those above them when they fall, and nothing else', async () => {
    const maker = await desk.member('admin');
    const [admin, operator] = [await desk.member('admin'), await desk.member('viewer')];
    const [above, below] = [await tokenFor(maker, admin.memberId), await tokenFor(maker, operator.memberId)];
    expect((await desk.owner.send('PATCH', `/members/${maker.memberId}`, { role: 'operator' })).status).toBe(
      200,
    );
    desk.test.clock.advance(1000);
    expect([await opens(above), await opens(below)]).toEqual([401, 200]);
  });
});
