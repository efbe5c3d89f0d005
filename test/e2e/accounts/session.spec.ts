import { hash } from '@node-rs/argon2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csrfTokenOf } from '../../../src/platform/auth/session-cookie.js';
import { sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { AdminClient, type Answer, Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { headOf, overlapping } from './account-desk.js';

const PASSWORD = 'correct horse battery staple';

let test: TestApp;
let owner: TestMember;
let workspaceId: string;
let email: string;

beforeAll(async () => {
  test = await startTestApp();
  ({ workspaceId } = await test.createWorkspace());
  owner = await test.createMember(workspaceId, 'owner');
  email = await withPassword(owner);
});
afterAll(() => test.close());

/** Gives the member's account a password; answers its address. */
async function withPassword({ memberId }: TestMember): Promise<string> {
  const [user] = await test.rows<{ email: string }>(
    `update users set password_hash = $1 where user_id = (select user_id from members where member_id = $2) returning email`,
    [await hash(PASSWORD), memberId],
  );
  return user!.email;
}

const signIn = (body: object, headers: Record<string, string> = {}) =>
  new Client(test.url, undefined).post('/api/admin/session', body, headers);

/** What the answer's `Set-Cookie` gives the browser. */
function secretIn({ headers }: Answer): string {
  return /^consigliere_session=([^;]+);/.exec(headers.get('set-cookie') ?? '')![1]!;
}

const sessionRows = (memberId: string) =>
  test.rows('select * from sessions where member_id = $1 order by created_at, session_id', [memberId]);

describe('POST /api/admin/session', () => {
  it('201 starts a session, whose secret stands in the cookie alone', async () => {
    const member = await test.createMember(workspaceId, 'admin');
    const address = await withPassword(member);
    const answer = await signIn(
      { email: address.toUpperCase(), password: PASSWORD },
      { 'User-Agent': 'Firefox' },
    );
    expect(answer.status).toBe(201);
    const cookie = answer.headers.get('set-cookie')!;
    expect(cookie).toMatch(/^consigliere_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const secret = secretIn(answer);
    expect(answer.text).not.toContain(secret);
    expect(answer.body).toMatchObject({
      csrfToken: csrfTokenOf(secret),
      method: 'password',
      secondFactor: false,
      workspace: { workspaceId, memberId: member.memberId, role: 'admin' },
      email: address,
    });
    const [row] = await sessionRows(member.memberId);
    expect(row).toMatchObject({
      session_id: answer.body.sessionId,
      secret_hash: sha256(secret),
      ended_at: null,
    });
    expect(JSON.stringify(row)).not.toContain(secret);
    const [receipt] = await test.rows<{ body: { actor: object } }>(
      `select body::jsonb as body from receipts where workspace_id = $1 and entity_id = $2`,
      [workspaceId, answer.body.sessionId],
    );
    expect(receipt!.body).toMatchObject({
      action: 'session.started',
      actor: { type: 'member', id: member.memberId, via: 'dashboard' },
    });
  });

  it('401 says the same of a wrong password, an unknown address and a removed member, and starts nothing', async () => {
    const removed = await test.createMember(workspaceId, 'operator');
    const address = await withPassword(removed);
    await test.rows(`update members set status = 'removed' where member_id = $1`, [removed.memberId]);
    const before = await test.rows('select count(*) from sessions');
    const answers = [
      await signIn({ email, password: `${PASSWORD}!` }),
      await signIn({ email: 'nobody@northwind.example', password: PASSWORD }),
      await signIn({ email: address, password: PASSWORD }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ reason: 'invalid_credentials' });
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    const told = answers.map(({ body: { requestId: _requestId, ...rest } }) => JSON.stringify(rest));
    expect(new Set(told).size).toBe(1);
    expect(await test.rows('select count(*) from sessions')).toEqual(before);
  });

  it('ends the session that the browser had before', async () => {
    const first = await signIn({ email, password: PASSWORD });
    const cookie = `consigliere_session=${secretIn(first)}`;
    const second = await signIn({ email, password: PASSWORD }, { Cookie: cookie });
    const [old] = await test.rows('select ended_at from sessions where session_id = $1', [
      first.body.sessionId,
    ]);
    expect(old!['ended_at']).not.toBeNull();
    expect((await new AdminClient(test.url, secretIn(second)).get('/session')).status).toBe(200);
  });

  it('201 for each of two sign-ins that follow each other at once in one browser', async () => {
    const member = await test.createMember(workspaceId, 'operator');
    const address = await withPassword(member);
    const first = await signIn({ email: address, password: PASSWORD });
    const cookie = `consigliere_session=${secretIn(first)}`;
    // What was looked up is remembered for half a second.
    test.clock.stop(test.clock.now());
    for (let n = 0; n < 2; n++) {
      expect((await signIn({ email: address, password: PASSWORD }, { Cookie: cookie })).status).toBe(201);
    }
    test.clock.goOn();
    const open = (await sessionRows(member.memberId)).filter((row) => row['ended_at'] === null);
    expect(open).toHaveLength(2);
  });

  it('201 also when the session that the browser had cannot be ended, which is logged', async () => {
    const first = await signIn({ email, password: PASSWORD });
    await test.rows(`create function refuse_end() returns trigger language plpgsql as
      $$ begin raise exception 'not now'; end $$`);
    await test.rows(`create trigger refuse_end before update of ended_at on sessions
      for each row execute function refuse_end()`);
    const cookie = `consigliere_session=${secretIn(first)}`;
    const second = await signIn({ email, password: PASSWORD }, { Cookie: cookie });
    await test.rows('drop function refuse_end cascade');
    expect(second.status).toBe(201);
    expect((await new AdminClient(test.url, secretIn(second)).get('/session')).status).toBe(200);
    const message = 'the session that the browser had before a sign-in could not be ended';
    await eventually(async () => test.logs.find(({ msg, level }) => msg === message && level === 'warn'));
  });

  it('201 also when the try cannot be counted as one that succeeded, which is logged', async () => {
    await test.rows('revoke execute on function app.end_sign_in_try from consigliere_app');
    const answer = await signIn({ email, password: PASSWORD });
    await test.rows('grant execute on function app.end_sign_in_try to consigliere_app');
    expect(answer.status).toBe(201);
    expect((await new AdminClient(test.url, secretIn(answer)).get('/session')).status).toBe(200);
    const message = 'a try that succeeded could not be counted as such';
    await eventually(async () => test.logs.find(({ msg, level }) => msg === message && level === 'warn'));
  });

  it('404 for a workspace that the account is not in', async () => {
    const other = await test.createWorkspace();
    const answer = await signIn({ email, password: PASSWORD, workspaceId: other.workspaceId });
    expect(answer.status).toBe(404);
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  it.each(['code', 'workspaceId'])(
    '422 for a null instead of %s, with a second factor too',
    async (field) => {
      const member = await test.createMember(workspaceId, 'operator');
      const address = await withPassword(member);
      await test.rows(
        `insert into second_factors (user_id, sealed_secret, begun_at, confirmed_at)
       select user_id, 'sealed', now(), now() from members where member_id = $1`,
        [member.memberId],
      );
      const answer = await signIn({ email: address, password: PASSWORD, [field]: null });
      expect([answer.status, answer.body.error.details?.[0].path]).toEqual([422, field]);
    },
  );

  it('422 names each fault', async () => {
    const answer = await signIn({ email: 'nobody', password: 7, workspaceId: 'here', extra: true });
    expect(answer.status).toBe(422);
    const paths = answer.body.error.details.map(({ path }: { path: string }) => path);
    expect(paths.toSorted()).toEqual(['email', 'extra', 'password', 'workspaceId']);
    // No account has such an address: none could be mailed to it.
    const unmailed = await signIn({ email: 'jö@northwind', password: PASSWORD });
    expect([unmailed.status, unmailed.body.error.details[0].path]).toEqual([422, 'email']);
  });
});

describe('an account in several workspaces', () => {
  /** Somebody in the workspace of this file, and as owner in one of a stranger. */
  async function inTwo() {
    const member = await test.createMember(workspaceId, 'operator');
    const address = await withPassword(member);
    const foreign = await test.createWorkspace();
    await test.rows(
      `insert into members (member_id, workspace_id, user_id, role, joined_at)
       select 'mem_' || substr($1, 5), $1, user_id, 'owner', now() + interval '1 hour' from members where member_id = $2`,
      [foreign.workspaceId, member.memberId],
    );
    return { member, address, foreign: foreign.workspaceId };
  }
  const opened = async (address: string) =>
    (await signIn({ email: address, password: PASSWORD })).body.workspace.workspaceId;

  it('opens the one that it opened last, and not the one where it may do most', async () => {
    const { address, foreign } = await inTwo();
    expect(await opened(address)).toBe(workspaceId);
    await signIn({ email: address, password: PASSWORD, workspaceId: foreign });
    expect(await opened(address)).toBe(foreign);
  });

  it('201 changes to another one, by a session with a cookie and a CSRF token of its own', async () => {
    const { member, address, foreign } = await inTwo();
    const first = await signIn({ email: address, password: PASSWORD });
    const browser = new AdminClient(test.url, secretIn(first));
    const answer = await browser.post('/session/workspace', { workspaceId: foreign });
    expect(answer.status, answer.text).toBe(201);
    const secret = secretIn(answer);
    expect(answer.body).toMatchObject({
      csrfToken: csrfTokenOf(secret),
      workspace: { workspaceId: foreign, role: 'owner' },
      expiresAt: first.body.expiresAt,
    });
    expect(answer.body.csrfToken).not.toBe(first.body.csrfToken);
    const there = new AdminClient(test.url, secret);
    expect((await there.get('/session')).body.workspace.workspaceId).toBe(foreign);
    const [row] = await sessionRows(member.memberId);
    expect(row!['ended_at']).not.toBeNull();
    const receipts = await test.rows<{ action: string }>(
      'select action from receipts where entity_id = any($1) order by workspace_id = $2 desc, seq',
      [[first.body.sessionId, answer.body.sessionId], workspaceId],
    );
    expect(receipts.map(({ action }) => action)).toEqual([
      'session.started',
      'session.ended',
      'session.started',
    ]);
    expect(await opened(address)).toBe(foreign);
  });

  it('404 and 422 for a workspace that it is not in, or none, and changes nothing', async () => {
    const { address } = await inTwo();
    const browser = new AdminClient(test.url, secretIn(await signIn({ email: address, password: PASSWORD })));
    const other = await test.createWorkspace();
    for (const [body, status] of [
      [{ workspaceId: other.workspaceId }, 404],
      [{ workspaceId: null }, 422],
      [{}, 422],
    ] as const) {
      const answer = await browser.post('/session/workspace', body);
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([status, null]);
    }
    expect((await browser.get('/session')).body.workspace.workspaceId).toBe(workspaceId);
  });

  it('403 for a session that an organisation began, or without its CSRF token', async () => {
    const { address, foreign } = await inTwo();
    const first = await signIn({ email: address, password: PASSWORD });
    const browser = new AdminClient(test.url, secretIn(first));
    const unproved = await browser.post(
      '/session/workspace',
      { workspaceId: foreign },
      { 'X-CSRF-Token': 'x' },
    );
    expect([unproved.status, unproved.body.reason]).toEqual([403, 'csrf_token']);
    await test.rows(`update sessions set method = 'oidc' where session_id = $1`, [first.body.sessionId]);
    const answer = await browser.post('/session/workspace', { workspaceId: foreign });
    expect([answer.status, answer.body.reason]).toEqual([403, 'sign_in_again']);
  });

  it('401 when all sessions of the account end meanwhile, and opens nothing', async () => {
    const { member, address, foreign } = await inTwo();
    const browser = new AdminClient(test.url, secretIn(await signIn({ email: address, password: PASSWORD })));
    const user = {
      text: `select app.end_sessions(user_id, null, now()) from (
        select user_id from users where user_id = (select user_id from members where member_id = $1) for update) u`,
      values: [member.memberId],
    };
    const blocker = await test.database.owner.connect();
    try {
      await blocker.query('begin');
      await blocker.query(user.text, user.values);
      const changing = browser.post('/session/workspace', { workspaceId: foreign });
      await eventually(
        async () =>
          (
            await test.rows(
              `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
            )
          ).length,
        (waiting) => waiting > 0,
      );
      await blocker.query('commit');
      expect((await changing).status).toBe(401);
    } finally {
      blocker.release();
    }
    expect(
      await test.rows('select 1 from sessions where workspace_id = $1 and ended_at is null', [foreign]),
    ).toEqual([]);
  });
});

describe('the cookie of a session', () => {
  it('opens the admin area until thirty minutes after the last request, and no longer than twelve hours', async () => {
    const admin = await test.signIn(owner.memberId);
    const began = test.clock.now();
    const reads = async (minutes: number) => {
      test.clock.stop(began + minutes * 60_000);
      const { status, body } = await admin.get('/session');
      return status === 200 ? 200 : body.reason;
    };
    expect(await reads(29)).toBe(200);
    expect(await reads(58)).toBe(200);
    expect(await reads(89)).toBe('expired_session');
    test.clock.goOn();
  });

  it('ends after twelve hours, however often it is used', async () => {
    const admin = await test.signIn(owner.memberId);
    const began = test.clock.now();
    for (let minute = 25; minute < 12 * 60; minute += 25) {
      test.clock.stop(began + minute * 60_000);
      expect((await admin.get('/session')).status, String(minute)).toBe(200);
    }
    test.clock.stop(began + 12 * 60 * 60_000);
    expect((await admin.get('/session')).body.reason).toBe('expired_session');
    test.clock.goOn();
  });

  it('opens no operator route, and an operator token no admin route, in whatever spelling of the path', async () => {
    const admin = await test.signIn(owner.memberId);
    expect((await admin.get('/api/pro/profile')).body.reason).toBe('missing_token');
    for (const path of ['/api/admin/session', '/API/ADMIN/session', '/api/Admin/sessions/']) {
      const answer = await fetch(test.url + path, { headers: { 'x-service-token': owner.token } });
      expect(answer.status, path).toBe(401);
      expect(await answer.json(), path).toMatchObject({ reason: 'missing_session' });
    }
  });

  it('cannot be an operator token, not even one that was used a moment ago', async () => {
    const expiresAt = test.clock.now() + 60_000;
    const { body: made } = await owner.post('/tokens', { name: 'Warm', expiresAt });
    expect((await new Client(test.url, made.token).get('/profile')).status).toBe(200);
    const admin = new AdminClient(test.url, made.token);
    const answers = [await admin.get('/session'), await admin.post('/operator-token')];
    expect(answers.map(({ status, body }) => [status, body.reason])).toEqual([
      [401, 'invalid_session'],
      [401, 'invalid_session'],
    ]);
  });

  it('changes nothing without the CSRF token of this very session', async () => {
    const admin = await test.signIn(owner.memberId);
    const another = await test.signIn(owner.memberId);
    for (const token of ['', 'guessed', csrfTokenOf(another.secret), `${csrfTokenOf(admin.secret)}x`]) {
      const answer = await admin.delete('/session', { 'X-CSRF-Token': token });
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({ reason: 'csrf_token', error: { code: 'FORBIDDEN' } });
    }
    expect((await admin.get('/session')).status).toBe(200);
  });
});

describe('DELETE /api/admin/session', () => {
  it('200 ends it, takes the cookie away, and ends the tokens that it made', async () => {
    const admin = await test.signIn(owner.memberId);
    const { body: made } = await admin.post('/operator-token');
    const dashboard = new Client(test.url, made.token);
    expect((await dashboard.get('/profile')).status).toBe(200);
    const answer = await admin.delete('/session');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toMatch(/^consigliere_session=; Max-Age=0;/);
    const [token] = await test.rows('select revoked_at from tokens where token_id = $1', [made.tokenId]);
    expect(token!['revoked_at']).not.toBeNull();
    // What was looked up is remembered for half a second.
    test.clock.advance(1000);
    expect((await admin.get('/session')).body.reason).toBe('ended_session');
    expect((await dashboard.get('/profile')).body.reason).toBe('revoked_token');
  });
});

describe('POST /api/admin/operator-token', () => {
  it('201 a token of fifteen minutes, which acts as the dashboard and stands in no list', async () => {
    const admin = await test.signIn(owner.memberId);
    test.clock.stop();
    const answer = await admin.post('/operator-token');
    expect(answer.status).toBe(201);
    expect(answer.body.expiresAt).toBe(test.clock.now() + 15 * 60_000);
    test.clock.goOn();
    const dashboard = new Client(test.url, answer.body.token);
    const signal = await dashboard.put('/guardian/mode', { mode: 'supervised' });
    expect(signal.status).toBe(200);
    const { body } = await owner.get('/audit-feed?action=guardian.mode_changed&limit=1');
    expect(body.items[0].actor).toMatchObject({ id: owner.memberId, via: 'dashboard' });
    const { body: tokens } = await owner.get('/tokens');
    expect(tokens.items.map(({ tokenId }: { tokenId: string }) => tokenId)).not.toContain(
      answer.body.tokenId,
    );
  });

  it('leaves one receipt for a session, however often it is renewed', async () => {
    const member = await test.createMember(workspaceId, 'operator');
    const admin = await test.signIn(member.memberId);
    for (let n = 0; n < 3; n++) expect((await admin.post('/operator-token')).status).toBe(201);
    const { body } = await owner.get('/audit-feed?action=token.created&limit=100');
    const own = body.items.filter(({ actor }: { actor: { id: string } }) => actor.id === member.memberId);
    expect(own).toHaveLength(1);
  });
});

describe('the token of the dashboard', () => {
  it('opens nothing but the kill switch while its session lacks a second factor that the workspace asks for', async () => {
    const { workspaceId: own, owner: boss } = await test.createWorkspace();
    await withPassword(boss as TestMember);
    const admin = await test.signIn((boss as TestMember).memberId);
    const { body: made } = await admin.post('/operator-token');
    const dashboard = new Client(test.url, made.token);
    expect((await dashboard.get('/profile')).status).toBe(200);
    await test.rows(`update workspaces set second_factor = 'everyone' where workspace_id = $1`, [own]);
    test.clock.advance(1000);
    expect((await dashboard.get('/profile')).body.reason).toBe('second_factor_required');
  });

  it('is revoked when its session has another secret, and made anew at each call', async () => {
    const member = await test.createMember(workspaceId, 'operator');
    await withPassword(member);
    const admin = await test.signIn(member.memberId);
    const key = { 'Idempotency-Key': 'once' };
    const [first, second] = [
      await admin.post('/operator-token', {}, key),
      await admin.post('/operator-token', {}, key),
    ];
    expect(first.body.token).not.toBe(second.body.token);
    const body = { currentPassword: PASSWORD, newPassword: 'seven quiet otters swim' };
    expect((await admin.put('/password', body)).status).toBe(200);
    test.clock.advance(1000);
    for (const { body: made } of [first, second]) {
      expect((await new Client(test.url, made.token).get('/profile')).body.reason).toBe('revoked_token');
    }
  });

  it('opens nothing beyond the last end of its session', async () => {
    const admin = await test.signIn(owner.memberId);
    const began = test.clock.now();
    for (let minute = 25; minute < 12 * 60; minute += 25) {
      test.clock.stop(began + minute * 60_000);
      await admin.get('/session');
    }
    test.clock.stop(began + (12 * 60 - 5) * 60_000);
    const { body: made } = await admin.post('/operator-token');
    const dashboard = new Client(test.url, made.token);
    expect((await dashboard.get('/profile')).status).toBe(200);
    test.clock.stop(began + (12 * 60 + 1) * 60_000);
    expect((await dashboard.get('/profile')).body.reason).toBe('expired_token');
    test.clock.goOn();
  });
});

describe('GET and DELETE /api/admin/sessions', () => {
  it('show and end one’s own to an operator, and those of lower roles to an admin', async () => {
    const { workspaceId: own, owner: boss } = await test.createWorkspace();
    const adminMember = await test.createMember(own, 'admin');
    const operatorMember = await test.createMember(own, 'operator');
    const bossId = (await boss.get('/profile')).body.operator.memberId;
    const [asOwner, asAdmin, asOperator] = [
      await test.signIn(bossId),
      await test.signIn(adminMember.memberId),
      await test.signIn(operatorMember.memberId),
    ];
    const idsOf = async (client: AdminClient, query = '') =>
      (await client.get(`/sessions${query}`)).body.items.map(
        ({ memberId }: { memberId: string }) => memberId,
      );
    expect(await idsOf(asOperator, `?memberId=${bossId}`)).toEqual([operatorMember.memberId]);
    expect((await idsOf(asAdmin)).toSorted()).toEqual(
      [bossId, adminMember.memberId, operatorMember.memberId].toSorted(),
    );
    expect(await idsOf(asAdmin, `?memberId=${bossId}`)).toEqual([bossId]);
    // The one that asks began first of the three, and takes no place in a page of the others.
    expect((await asOwner.get('/sessions?others=true&limit=1')).body).toMatchObject({
      total: 2,
      items: [{ memberId: operatorMember.memberId }],
    });
    expect(await idsOf(asAdmin, '?others=true')).toEqual([operatorMember.memberId, bossId]);
    expect(await idsOf(asOperator, '?others=true')).toEqual([]);

    const [ownerSession] = (await asOwner.get(`/sessions?memberId=${bossId}`)).body.items;
    expect((await asAdmin.delete(`/sessions/${ownerSession.sessionId}`)).status).toBe(404);
    expect((await asOperator.delete(`/sessions/${ownerSession.sessionId}`)).status).toBe(404);
    const [operatorSession] = (await asOperator.get('/sessions')).body.items;
    expect(operatorSession).toMatchObject({ current: true });
    expect((await asAdmin.delete(`/sessions/${operatorSession.sessionId}`)).status).toBe(200);
    test.clock.advance(1000);
    expect((await asOperator.get('/session')).body.reason).toBe('ended_session');
    expect((await asAdmin.delete(`/sessions/${operatorSession.sessionId}`)).status).toBe(404);
  });

  it('end with the membership also when they are just beginning', async () => {
    const member = await test.createMember(workspaceId, 'operator');
    const address = await withPassword(member);
    const [signedIn, removed] = await overlapping(
      test,
      headOf(workspaceId),
      () => signIn({ email: address, password: PASSWORD }),
      () => owner.delete(`/members/${member.memberId}`),
    );
    expect([signedIn.status, removed.status]).toEqual([201, 200]);
    const open = (await sessionRows(member.memberId)).filter((row) => row['ended_at'] === null);
    expect(open).toEqual([]);
  });

  it('end with the membership, and stay ended when the member comes back', async () => {
    const member = await test.createMember(workspaceId, 'operator');
    const admin = await test.signIn(member.memberId);
    expect((await owner.delete(`/members/${member.memberId}`)).status).toBe(200);
    await test.rows(`update members set status = 'active' where member_id = $1`, [member.memberId]);
    test.clock.advance(1000);
    expect((await admin.get('/session')).body.reason).toBe('ended_session');
  });
});
