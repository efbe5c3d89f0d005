import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { newOperatorToken } from '../../../src/platform/kernel/operator-token.js';
import { Client } from '../../support/client.js';
import { PASSWORD, TeamDesk } from './team-desk.js';

let desk: TeamDesk;
beforeAll(async () => {
  desk = await TeamDesk.open();
});
afterAll(() => desk.test.close());

const code = ({ status, body }: { status: number; body: any }) => [status, body.error?.code];
const DAY_MS = 86_400_000;

describe('POST /invites/accept: 201', () => {
  it('makes an account, a viewer of the workspace and a member of the team, with a receipt', async () => {
    const { inviteId } = await desk.invite('new@example.com');
    const { status, body } = await desk.accept(await desk.token(inviteId), { displayName: ' Jo  Lind ' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ workspaceId: desk.workspaceId, teamId: desk.teamA, role: 'operator' });
    const [row] = await desk.test.rows(
      `select u.display_name, u.password_hash, m.role, m.team_only, m.status, tm.role as team_role from users u
       join members m using (user_id) join team_members tm using (member_id) where u.email = 'new@example.com'`,
    );
    expect(row).toMatchObject({
      display_name: 'Jo Lind',
      role: 'viewer',
      team_only: true,
      status: 'active',
      team_role: 'operator',
    });
    expect(row!['password_hash']).toMatch(/^\$argon2id\$/);
    expect(await desk.receipts(inviteId)).toEqual(['invite.created', 'invite.mailed', 'invite.accepted']);
  });

  it('joins an account of another workspace by its password, and keeps its name', async () => {
    const other = await TeamDesk.open(desk.test);
    const first = await desk.invite('both@example.com');
    await desk.accept(await desk.token(first.inviteId));
    const second = await other.invite('both@example.com');
    const token = await other.token(second.inviteId);
    const wrong = await desk.accept(token, { password: 'not this password' });
    expect(code(wrong)).toEqual([409, 'ACCOUNT_EXISTS']);
    expect((await desk.accept(token, { displayName: 'Somebody Else' })).status).toBe(201);
    const [user] = await desk.test.rows(
      `select display_name, (select count(*)::int from members m where m.user_id = u.user_id) as members
       from users u where email = 'both@example.com'`,
    );
    expect(user).toEqual({ display_name: expect.stringMatching(/^Jo /), members: 2 });
  });

  it('accepts one invite of each team for one address', async () => {
    const a = await desk.invite('two@example.com');
    const b = await desk.invite('two@example.com', { teamId: desk.teamB, role: 'viewer' });
    const [first, second] = [
      await desk.accept(await desk.token(a.inviteId)),
      await desk.accept(await desk.token(b.inviteId)),
    ];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.memberId).toBe(first.body.memberId);
    const teams = await desk.test.rows('select team_id, role from team_members where member_id = $1', [
      first.body.memberId,
    ]);
    expect(teams).toHaveLength(2);
  });

  it('brings a removed member back without the tokens of before', async () => {
    const member = await desk.member('operator');
    const [{ email }] = (await desk.test.rows<{ email: string }>(
      'select email from users join members using (user_id) where member_id = $1',
      [member.memberId],
    )) as [{ email: string }];
    await desk.test.rows(
      `update users set password_hash = (select password_hash from users where email = 'new@example.com') where email = $1`,
      [email],
    );
    expect((await desk.owner.delete(`/members/${member.memberId}`)).status).toBe(200);
    const { inviteId } = await desk.invite(email);
    const { body } = await desk.accept(await desk.token(inviteId));
    expect(body.memberId).toBe(member.memberId);
    expect((await member.get('/profile')).body.reason).toBe('revoked_token');
  });
});

describe('POST /invites/accept: 404', () => {
  it.each(['x', 'a'.repeat(43), newOperatorToken()])('for a token that is none: %s', async (token) => {
    expect(code(await desk.accept(token))).toEqual([404, 'NOT_FOUND']);
  });
});

describe('POST /invites/accept: 409 and 410', () => {
  it('used twice: 409, and nothing changes', async () => {
    const { inviteId } = await desk.invite('twice@example.com');
    const token = await desk.token(inviteId);
    expect((await desk.accept(token)).status).toBe(201);
    const before = await desk.stored();
    expect(code(await desk.accept(token))).toEqual([409, 'INVITE_ACCEPTED']);
    expect(await desk.stored()).toBe(before);
  });

  it('after seven days: 410, and one millisecond before: 201', async () => {
    const late = await desk.invite('late@example.com');
    const [token, soon] = [await desk.token(late.inviteId), await desk.invite('soon@example.com')];
    const soonToken = await desk.token(soon.inviteId);
    expect(late.expiresAt - late.createdAt).toBe(7 * DAY_MS);
    const before = await desk.stored();
    desk.test.clock.stop(late.expiresAt);
    expect(code(await desk.accept(token))).toEqual([410, 'INVITE_EXPIRED']);
    expect(await desk.stored()).toBe(before);
    desk.test.clock.stop(soon.expiresAt - 1);
    expect((await desk.accept(soonToken)).status).toBe(201);
    desk.test.clock.goOn();
  });

  it('withdrawn: 410', async () => {
    const { inviteId } = await desk.invite('gone@example.com');
    const token = await desk.token(inviteId);
    expect((await desk.owner.delete(`/invites/${inviteId}`)).body.status).toBe('withdrawn');
    expect(code(await desk.accept(token))).toEqual([410, 'INVITE_EXPIRED']);
  });

  it('when whoever invited may not invite any more: 410', async () => {
    const admin = await desk.member('viewer', { [desk.teamA]: 'admin' });
    const { inviteId } = await desk.invite('orphan@example.com', { by: admin });
    const token = await desk.token(inviteId);
    await desk.owner.send('PATCH', `/teams/${desk.teamA}/members/${admin.memberId}`, { role: 'operator' });
    const before = await desk.stored();
    expect(code(await desk.accept(token))).toEqual([410, 'INVITE_EXPIRED']);
    expect(await desk.stored()).toBe(before);
  });

  it('with ten wrong passwords the invite opens nothing, with the right one neither', async () => {
    const other = await TeamDesk.open(desk.test);
    const invite = await other.invite('new@example.com');
    const token = await other.token(invite.inviteId);
    for (let n = 0; n < 10; n++) {
      expect(code(await desk.accept(token, { password: `wrong password ${n}` }))).toEqual([
        409,
        'ACCOUNT_EXISTS',
      ]);
    }
    expect(code(await desk.accept(token))).toEqual([410, 'INVITE_EXPIRED']);
  });
});

describe('POST /invites/accept: 409 LIMIT_REACHED', () => {
  /** Fills the workspace, or the team, with this many members more. */
  const fill = (other: TeamDesk, count: number, teamId: string | null = null) =>
    other.test.rows(
      `with made as (
         insert into users (user_id, email, display_name)
         select $4 || n, $4 || n || '@example.com', 'Many' from generate_series(1, $2) n returning user_id
       ), joined as (
         insert into members (member_id, workspace_id, user_id, role)
         select replace(user_id, 'usr_', 'mem_'), $1, user_id, 'viewer' from made returning member_id
       )
       insert into team_members (workspace_id, team_id, member_id, role)
       select $1, $3, member_id, 'viewer' from joined where $3::text is not null`,
      [other.workspaceId, count, teamId, newId('usr').slice(0, -5)],
    );

  it('where the workspace is full by now; whoever is in it already is not counted again', async () => {
    const other = await TeamDesk.open(desk.test);
    const known = await other.member('viewer');
    const { body: pending } = await other.owner.post('/members', {
      email: 'late@example.com',
      role: 'viewer',
    });
    const toTeam = await other.invite('late2@example.com');
    const tokens = [await other.token(pending.inviteId), await other.token(toTeam.inviteId)];
    await fill(other, 4_998);
    for (const token of tokens) {
      const answer = await desk.accept(token);
      expect(code(answer)).toEqual([409, 'LIMIT_REACHED']);
      expect(answer.body.error).toMatchObject({
        message: 'This workspace has reached its limit of 5,000 members.',
        details: { what: 'members', limit: 5_000 },
      });
    }
    await other.owner.delete(`/members/${known.memberId}`);
    expect((await desk.accept(tokens[0]!)).status).toBe(201);
  });

  it('where the team is full by now', async () => {
    const other = await TeamDesk.open(desk.test);
    const { inviteId } = await other.invite('team-late@example.com');
    const token = await other.token(inviteId);
    await fill(other, 500, other.teamA);
    const answer = await desk.accept(token);
    expect(code(answer)).toEqual([409, 'LIMIT_REACHED']);
    expect(answer.body.error).toMatchObject({
      message: 'This team has reached its limit of 500 members.',
      details: { what: 'members of a team', limit: 500 },
    });
  });
});

describe('POST /invites/accept: 422 and 429', () => {
  it.each([
    ['a short password', { password: 'short' }],
    ['a name with a control character', { displayName: 'Jo\u0007' }],
    ['a name that runs the other way', { displayName: '\u202eJo' }],
    ['the name of the guardian', { displayName: 'The guardian' }],
    ['the name of a member, in other letters', { displayName: 'JO  L1ND' }],
    ['no name', { displayName: undefined }],
    ['a role of one’s own', { role: 'owner' }],
  ])('%s is refused, and the invite stays open', async (_what, more) => {
    const { inviteId } = await desk.invite(`bad${Math.random()}@example.com`);
    const token = await desk.token(inviteId);
    expect(code(await desk.accept(token, more))).toEqual([422, 'VALIDATION_FAILED']);
    expect((await desk.accept(token)).status).toBe(201);
  });

  it('the name of a member is not given to an agent either', async () => {
    const answer = await desk.owner.post('/tokens', {
      name: 'Agent',
      agent: { name: 'jo L1nd' },
      tools: ['crm.*'],
    });
    expect(code(answer)).toEqual([409, 'ALREADY_EXISTS']);
    expect(await desk.test.rows(`select 1 from tokens where agent_name is not null`)).toEqual([]);
  });

  it('one address may try ten times a minute, by the form and the route together', async () => {
    const client = desk.anyone;
    desk.test.clock.stopAtMinute();
    for (let n = 0; n < 10; n++) {
      expect(
        (await client.post('/invites/accept', { token: 'x', displayName: 'Jo', password: PASSWORD })).status,
      ).toBe(404);
    }
    expect((await client.post('/invites/accept', { token: 'x' })).status).toBe(429);
    const form = await fetch(`${desk.test.url}/invites/${'a'.repeat(43)}`, {
      method: 'POST',
      headers: { 'X-Forwarded-For': client.address },
    });
    expect(form.status).toBe(429);
    desk.test.clock.goOn();
  });
});

describe('the page of the link', () => {
  const visit = (token: string, init: RequestInit = {}) =>
    fetch(`${desk.test.url}/invites/${token}`, {
      ...init,
      headers: { 'X-Forwarded-For': desk.anyone.address, ...init.headers },
    });
  const submit = (token: string, fields: Record<string, string>) =>
    visit(token, { method: 'POST', body: new URLSearchParams(fields) });

  it('shows who invites whom on GET and HEAD, and changes nothing', async () => {
    const { inviteId } = await desk.invite('page@example.com');
    const token = await desk.token(inviteId);
    const before = await desk.stored();
    for (let n = 0; n < 3; n++) {
      const response = await visit(token);
      expect(response.status).toBe(200);
      const html = await response.text();
      expect(html).toContain('page@example.com');
      expect(html).toContain('Marketing');
      expect(html).not.toContain(token);
      expect(html).not.toContain('<script');
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      );
      expect(response.headers.get('referrer-policy')).toBe('strict-origin');
      expect(response.headers.get('x-robots-tag')).toBe('noindex, nofollow');
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
    expect((await visit(token, { method: 'HEAD' })).status).toBe(200);
    expect(await desk.stored()).toBe(before);
  });

  it('accepts on POST, once, and says so afterwards', async () => {
    const { inviteId } = await desk.invite('form@example.com');
    const token = await desk.token(inviteId);
    const bad = await submit(token, { displayName: '<b>Jo', password: 'short' });
    expect(bad.status).toBe(422);
    expect(await bad.text()).toContain('&lt;b&gt;Jo');
    const done = await submit(token, { displayName: 'Jo', password: PASSWORD });
    expect([done.status, await done.text()]).toEqual([200, expect.stringContaining('Welcome to')]);
    const again = await visit(token);
    expect([again.status, await again.text()]).toEqual([409, expect.stringContaining('accepted already')]);
    expect(await desk.test.rows(`select 1 from users where email = 'form@example.com'`)).toHaveLength(1);
  });

  it('signs the new member in, by a cookie that opens the dashboard', async () => {
    const { inviteId } = await desk.invite('inbox@example.com');
    const done = await submit(await desk.token(inviteId), { displayName: 'Inbox', password: PASSWORD });
    const [cookie] = done.headers.getSetCookie();
    expect(cookie).toMatch(/^consigliere_session=\S+; .*HttpOnly.*SameSite=Strict/);
    const session = await fetch(`${desk.test.url}/api/admin/session`, {
      headers: { Cookie: cookie!.split(';', 1)[0]! },
    });
    expect(await session.json()).toMatchObject({ email: 'inbox@example.com', displayName: 'Inbox' });
    expect(await done.text()).toContain('href="/">Open your inbox</a>');
  });

  it('says who is signed in in this browser, and whom accepting signs in instead', async () => {
    const first = await submit(await desk.token((await desk.invite('first@example.com')).inviteId), {
      displayName: 'First & Co',
      password: PASSWORD,
    });
    expect(await first.text()).toContain('This browser is signed in as first@example.com now.');
    const Cookie = first.headers.getSetCookie()[0]!.split(';', 1)[0]!;
    const token = await desk.token((await desk.invite('second@example.com')).inviteId);
    const sentence =
      'This browser is signed in as First &amp; Co. Accepting signs it in as second@example.com instead.';
    expect(await (await visit(token, { headers: { Cookie } })).text()).toContain(sentence);
    for (const headers of [{}, { Cookie: `${Cookie}x` }])
      expect(await (await visit(token, { headers })).text()).not.toContain('This browser');
  });

  it('begins no session for a form of another site', async () => {
    const { inviteId } = await desk.invite('elsewhere@example.com');
    const token = await desk.token(inviteId);
    const foreign: Record<string, string>[] = [
      { 'Sec-Fetch-Site': 'cross-site' },
      { Origin: 'https://evil.example' },
      // A site that hides its origin, over plain http: nothing says that the page is ours.
      { Origin: 'null' },
    ];
    for (const headers of foreign) {
      const refused = await visit(token, {
        method: 'POST',
        headers,
        body: new URLSearchParams({ displayName: 'Jo', password: PASSWORD }),
      });
      expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
    }
    expect(await desk.test.rows(`select 1 from users where email = 'elsewhere@example.com'`)).toEqual([]);
  });

  it('says that there is no such invite, and takes no JSON and no file', async () => {
    expect((await visit('a'.repeat(43))).status).toBe(404);
    const json = await visit('a'.repeat(43), {
      method: 'POST',
      body: '{}',
      headers: { 'Content-Type': 'application/json' },
    });
    expect(json.status).toBe(415);
    const many = await submit(
      'a'.repeat(43),
      Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`f${n}`, 'x'])),
    );
    expect(many.status).toBe(422);
  });

  it('keeps the token out of the log and out of every answer but the mail', async () => {
    const { inviteId, ...shown } = await desk.invite('quiet@example.com');
    const token = await desk.token(inviteId);
    await visit(token);
    await desk.accept(token);
    expect(JSON.stringify(shown)).not.toContain(token);
    expect(JSON.stringify(desk.test.logs)).not.toContain(token);
    const [row] = await desk.test.rows(
      'select i::text as row, sealed_token from invites i where invite_id = $1',
      [inviteId],
    );
    expect(row!['row']).not.toContain(token);
    expect(row!['sealed_token']).toBeNull();
  });
});

it('a workspace invite gives its role, and a token of it works at once when made', async () => {
  const { status, body } = await desk.owner.post('/members', { email: 'admin@example.com', role: 'admin' });
  expect([status, body.teamId]).toEqual([201, null]);
  const accepted = await desk.accept(await desk.token(body.inviteId));
  expect(accepted.body).toMatchObject({ teamId: null, role: 'admin' });
  const { token } = (await desk.owner.post('/tokens', { name: 'first', memberId: accepted.body.memberId }))
    .body;
  expect((await new Client(desk.test.url, token).get('/members')).status).toBe(200);
});
