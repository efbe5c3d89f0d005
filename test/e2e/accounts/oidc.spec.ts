import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { Browser } from '../../support/browser.js';
import { Client } from '../../support/client.js';
import { CLIENT_ID } from '../../support/oidc-issuer.js';
import { headOf, overlapping, recoverSecondFactor } from './account-desk.js';
import { CALLBACK, COOKIE, OidcDesk, SESSION_COOKIE, START } from './oidc-desk.js';

let desk: OidcDesk;
beforeAll(async () => {
  desk = await OidcDesk.open({ environment: { OIDC_NAME: 'Northwind account' } });
});
afterAll(() => desk.close());

const sessionsOf = (userId: string) =>
  desk.test.rows('select * from sessions where user_id = $1 order by created_at', [userId]);

describe('GET /api/admin/oidc', () => {
  it('200 says what the button says and where it leads', async () => {
    const answer = await new Client(desk.test.url, undefined).get('/api/admin/oidc');
    expect([answer.status, answer.body]).toEqual([
      200,
      { enabled: true, name: 'Northwind account', startPath: START },
    ]);
  });
});

describe('GET /api/admin/oidc/start: 302', () => {
  it('sends the browser to the provider with state, nonce and PKCE, and keeps the rest sealed in a cookie', async () => {
    const answer = await fetch(`${desk.test.url}${START}?returnTo=/app`, { redirect: 'manual' });
    expect(answer.status).toBe(302);
    const location = new URL(answer.headers.get('location')!);
    expect(location.origin + location.pathname).toBe(`${desk.issuer.url}/auth`);
    const { state, nonce, code_challenge: challenge, ...rest } = Object.fromEntries(location.searchParams);
    expect(rest).toEqual({
      client_id: CLIENT_ID,
      redirect_uri: desk.test.url + CALLBACK,
      response_type: 'code',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    });
    for (const secret of [state, nonce, challenge]) expect(secret).toMatch(/^[\w-]{43}$/);
    const [cookie] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^consigliere_oidc=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    for (const part of cookie!.split(/[=.;]/)) {
      expect(Buffer.from(part, 'base64url').toString()).not.toContain(state);
    }
  });
});

describe('GET /api/admin/oidc/start: 200', () => {
  it.each(['cross-site', 'same-site'])(
    'begins nothing for a page of another site (%s): it takes a click on ours',
    async (site) => {
      const address = `${desk.test.url}${START}?returnTo=%2Fapp%3Fa%3D%22`;
      const answer = await fetch(address, { headers: { 'Sec-Fetch-Site': site }, redirect: 'manual' });
      expect([answer.status, answer.headers.get('location'), answer.headers.getSetCookie()]).toEqual([
        200,
        null,
        [],
      ]);
      expect(answer.headers.get('content-security-policy')).toContain(`frame-ancestors 'none'`);
      const html = await answer.text();
      expect(html).toContain('Sign in with Northwind account');
      const [, link] = /<a href="([^"]+)">/.exec(html)!;
      expect(link).toBe(`${desk.test.url}${START}?returnTo=%2Fapp%3Fa%3D%22`);
      // What the click asks for.
      const clicked = await fetch(link!, {
        headers: { 'Sec-Fetch-Site': 'same-origin' },
        redirect: 'manual',
      });
      expect([clicked.status, clicked.headers.getSetCookie()]).toEqual([
        302,
        [expect.stringContaining(COOKIE)],
      ]);
    },
  );

  it('goes to the provider for who typed the address, and for a browser that says nothing', async () => {
    for (const headers of [{ 'Sec-Fetch-Site': 'none' }, {}] as Record<string, string>[]) {
      const answer = await fetch(desk.test.url + START, { headers, redirect: 'manual' });
      expect(answer.status).toBe(302);
    }
  });
});

describe('GET /api/admin/oidc/callback: 200', () => {
  it('begins no session that what ends all sessions of the account at the same time misses', async () => {
    const { subject, email } = desk.person();
    await desk.signIn(subject);
    const { user_id: userId } = (await desk.account(email))!;
    await desk.test.rows(
      `insert into second_factors (user_id, sealed_secret, begun_at, confirmed_at) values ($1, 'v1.x.y', now(), now())`,
      [userId],
    );
    const [signedIn, recovered] = await overlapping(
      desk.test,
      headOf(desk.test.workspaceId),
      () => desk.signIn(subject),
      () => recoverSecondFactor(desk.test, email),
    );
    expect([signedIn.status, recovered]).toEqual([200, expect.stringContaining('no second factor any more')]);
    expect((await sessionsOf(userId)).filter((row) => row['ended_at'] === null)).toEqual([]);
  });

  it('makes an account and a viewer at the first sign-in, with receipts, and a session', async () => {
    const { subject, email } = desk.person({ name: '  Jo   Lind ' });
    const browser = new Browser();
    const page = await desk.signIn(subject, { browser });
    expect(page.status, page.text).toBe(200);
    expect(page.text).toContain('You are signed in as Jo Lind.');
    expect(page.url.pathname).toBe(CALLBACK);
    expect(page.headers.get('content-security-policy')).toContain(`default-src 'none'`);
    expect(page.headers.get('referrer-policy')).toBe('strict-origin');
    expect(page.headers.get('cache-control')).toBe('no-store');

    const account = await desk.account(email);
    expect(account).toMatchObject({
      display_name: 'Jo Lind',
      password_hash: null,
      role: 'viewer',
      status: 'active',
      team_only: false,
      identities: [[desk.issuer.url, subject]],
    });
    const [session, ...others] = await sessionsOf(account!['user_id']);
    expect(others).toEqual([]);
    const cookie = browser.cookie(desk.test.url, SESSION_COOKIE)!;
    expect(cookie.attributes).toEqual(expect.arrayContaining(['httponly', 'samesite=strict', 'path=/']));
    expect(session).toMatchObject({
      secret_hash: sha256(cookie.value),
      method: 'oidc',
      second_factor: false,
      workspace_id: desk.test.workspaceId,
      ended_at: null,
    });
    expect(browser.cookie(desk.test.url, COOKIE)).toBeUndefined();

    const [joined, ...more] = await desk.receipts(account!['member_id']);
    expect(more).toEqual([]);
    expect(joined).toMatchObject({
      action: 'member.joined',
      body: {
        actor: { type: 'member', id: account!['member_id'], name: 'Jo Lind', via: 'dashboard' },
        summary: 'Jo Lind joined the workspace as viewer by signing in with OpenID Connect.',
        details: { role: 'viewer', issuer: desk.issuer.url, isNewAccount: true },
      },
    });
    const [started] = await desk.receipts(session!['session_id'] as string);
    expect(started).toMatchObject({ action: 'session.started', body: { details: { method: 'oidc' } } });
  });

  it('makes nothing but a session at the next sign-in, whatever the provider calls the person by then', async () => {
    const { subject, email } = desk.person();
    await desk.signIn(subject);
    const before = await desk.account(email);
    desk.issuer.people.set(subject, {
      email: 'renamed@northwind.example',
      email_verified: true,
      name: 'Renamed',
    });
    expect((await desk.signIn(subject)).text).toContain(before!['display_name']);
    expect(await desk.account(email)).toEqual(before);
    expect(await desk.account('renamed@northwind.example')).toBeUndefined();
    expect(await sessionsOf(before!['user_id'])).toHaveLength(2);
  });

  it('goes on by itself to where the sign-in began, which a redirect from the provider could not', async () => {
    const { subject, email } = desk.person();
    const browser = new Browser();
    const session = '/api/admin/session';
    const page = await desk.signIn(subject, { browser, returnTo: session });
    // The browser came from another site, so had it been redirected, the session's cookie would have stayed at home.
    const linked = await browser.open(desk.test.url + session, new URL(desk.issuer.url));
    expect([linked.status, JSON.parse(linked.text).reason]).toEqual([401, 'missing_session']);
    const next = await browser.goOn(page);
    expect([next.url.pathname, next.status]).toEqual([session, 200]);
    expect(JSON.parse(next.text)).toMatchObject({ email, method: 'oidc', secondFactor: false });
    expect(page.text).toContain(`<a href="${desk.test.url}${session}">`);
  });

  it('goes on to a path with a query and a fragment, byte for byte, and to nowhere without one', async () => {
    const { subject } = desk.person();
    const returnTo = `/app/ünï?a="b"&c=<d>#e'f`;
    const page = await desk.signIn(subject, { returnTo });
    const next = new URL(desk.test.url + returnTo).href;
    expect(page.headers.get('refresh')).toBe(`0; url=${next}`);
    expect(page.text).not.toContain('<d>');
    expect((await desk.signIn(subject)).headers.get('refresh')).toBeNull();
  });

  it('links the account that has the address, by a password, and keeps its role and name', async () => {
    const { subject, email } = desk.person({ name: 'Somebody Else' });
    const member = await desk.test.createMember(desk.test.workspaceId, 'admin');
    await desk.test.rows(
      `update users set email = $2, password_hash = 'a hash', display_name = 'Mira Novak'
       where user_id = (select user_id from members where member_id = $1)`,
      [member.memberId, email],
    );
    const page = await desk.signIn(subject);
    expect(page.text).toContain('You are signed in as Mira Novak.');
    expect(await desk.account(email)).toMatchObject({
      member_id: member.memberId,
      role: 'admin',
      password_hash: 'a hash',
      identities: [[desk.issuer.url, subject]],
    });
    await desk.signIn(subject);
    const [linked, ...more] = await desk.receipts(member.memberId);
    expect(more).toEqual([]);
    expect(linked).toMatchObject({
      action: 'identity.linked',
      body: { actor: { id: member.memberId, name: 'Mira Novak' }, details: { issuer: desk.issuer.url } },
    });
  });

  it('lets a removed member come back by an open invite, as what it says, and accepts it', async () => {
    const { subject, email } = desk.person();
    await desk.signIn(subject);
    const { member_id: memberId } = (await desk.account(email))!;
    await desk.test.rows(`update members set role = 'admin' where member_id = $1`, [memberId]);
    expect((await desk.test.owner.delete(`/members/${memberId}`)).status).toBe(200);
    const { body: invite } = await desk.test.owner.post('/members', { email, role: 'operator' });

    const page = await desk.signIn(subject);
    expect(page.text).toContain('You are signed in as');
    expect(await desk.account(email)).toMatchObject({
      member_id: memberId,
      role: 'operator',
      status: 'active',
    });
    const [row] = await desk.test.rows('select status, sealed_token from invites where invite_id = $1', [
      invite.inviteId,
    ]);
    expect(row).toEqual({ status: 'accepted', sealed_token: null });
    // The invite's own mail may be written down before or behind it.
    const accepted = (await desk.receipts(invite.inviteId)).find(
      ({ action }) => action === 'invite.accepted',
    );
    expect(accepted).toMatchObject({
      body: { actor: { id: memberId, via: 'dashboard' }, details: { role: 'operator' } },
    });
  });

  it('finds the account whatever the capitals of the address, and an address in any script by its punycode', async () => {
    const { email } = desk.person();
    const { subject } = desk.person({ email: email.toUpperCase() });
    expect((await desk.signIn(subject)).status).toBe(200);
    expect(await desk.account(email)).toMatchObject({ identities: [[desk.issuer.url, subject]] });

    const german = desk.person({ email: 'jo@MU\u0308NCHEN.example' });
    expect((await desk.signIn(german.subject)).status).toBe(200);
    expect(await desk.account('jo@xn--mnchen-3ya.example')).toMatchObject({ role: 'viewer' });
  });

  it('makes a name from the address when the provider has none that can be shown', async () => {
    for (const [name, email] of [
      [undefined, 'ada.lovelace@northwind.example'],
      ['Mira\u202eNovak', 'grace-hopper@northwind.example'],
      ['x'.repeat(81), 'x@northwind.example'],
      [{ first: 'Jo' }, 'jo_lind@northwind.example'],
      ['The guardian', 'ann.bell@northwind.example'],
    ] as const) {
      const { subject } = desk.person({ name, email });
      expect((await desk.signIn(subject)).status, email).toBe(200);
    }
    const names = [];
    for (const local of ['ada.lovelace', 'grace-hopper', 'x', 'jo_lind', 'ann.bell'])
      names.push((await desk.account(`${local}@northwind.example`))!['display_name']);
    expect(names).toEqual(['Ada Lovelace', 'Grace Hopper', 'X', 'Jo Lind', 'Ann Bell']);
  });

  it('signs people in to their own account after they were given the address of another', async () => {
    const [one, other] = [desk.person(), desk.person()];
    await desk.signIn(one.subject);
    await desk.signIn(other.subject);
    const mine = await desk.account(one.email);
    desk.issuer.people.set(one.subject, { email: other.email, email_verified: true });
    expect((await desk.signIn(one.subject)).status).toBe(200);
    expect(await sessionsOf(mine!['user_id'])).toHaveLength(2);
    expect(await sessionsOf((await desk.account(other.email))!['user_id'])).toHaveLength(1);
    expect(await desk.account(one.email)).toEqual(mine);
  });

  it.each([
    ['amr mfa', { amr: 'pwd mfa' }, true],
    ['amr pwd and otp', { amr: 'pwd otp' }, true],
    ['amr hwk and fpt', { amr: 'hwk fpt' }, true],
    ['acr mfa', { acr: 'mfa' }, true],
    [
      'the acr of several factors',
      { acr: 'http://schemas.openid.net/pape/policies/2007/06/multi-factor' },
      true,
    ],
    ['a password alone', { amr: 'pwd' }, false],
    ['a one-time password alone, which may have been mailed', { amr: 'otp' }, false],
    ['two things that one knows', { amr: 'pwd pin' }, false],
    ['another acr', { acr: 'no-mfa' }, false],
    ['nothing', {}, false],
  ])('says of the session whether the provider asked for a second factor: %s', async (_case, form, shown) => {
    const { subject, email } = desk.person();
    expect((await desk.signIn(subject, form)).status).toBe(200);
    const [session] = await sessionsOf((await desk.account(email))!['user_id']);
    expect(session!['second_factor']).toBe(shown);
  });

  it('makes one account and one member of twenty first sign-ins at a time', async () => {
    const { subject, email } = desk.person();
    const pages = await Promise.all(Array.from({ length: 20 }, () => desk.signIn(subject)));
    expect(pages.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const account = await desk.account(email);
    expect(account!['identities']).toEqual([[desk.issuer.url, subject]]);
    expect((await desk.receipts(account!['member_id'])).map(({ action }) => action)).toEqual([
      'member.joined',
    ]);
    expect(await sessionsOf(account!['user_id'])).toHaveLength(20);
  });

  it('ends the session that the browser had before, and no other', async () => {
    const { subject, email } = desk.person();
    const browser = new Browser();
    await desk.signIn(subject, { browser });
    const { user_id: userId } = (await desk.account(email))!;
    const [first] = await sessionsOf(userId);
    const again = await desk.begin(browser);
    expect(again.status, again.text).toBe(200);
    const [former, latter, ...more] = await sessionsOf(userId);
    expect(more).toEqual([]);
    expect([former!['session_id'], former!['ended_at'] === null]).toEqual([first!['session_id'], false]);
    expect(latter!['ended_at']).toBeNull();
    const other = new Browser();
    await desk.signIn(subject, { browser: other });
    expect((await sessionsOf(userId)).filter((one) => one['ended_at'] === null)).toHaveLength(2);
  });

  it('ends like any session: thirty minutes after the last request', async () => {
    const { subject } = desk.person();
    const browser = new Browser();
    const page = await desk.signIn(subject, { browser, returnTo: '/api/admin/session' });
    expect((await browser.goOn(page)).status).toBe(200);
    desk.test.clock.advance(31 * 60_000);
    const late = await browser.goOn(page);
    expect([late.status, JSON.parse(late.text).reason]).toEqual([401, 'expired_session']);
    desk.test.clock.goOn();
  });
});

describe('a provider', () => {
  it('that tells the address in the ID token, and takes the secret in a header, is asked no more than that', async () => {
    const other = await OidcDesk.open({
      issuer: { inUserInfoOnly: false, authMethod: 'client_secret_basic' },
    });
    try {
      const { subject, email } = other.person();
      expect((await other.signIn(subject)).status).toBe(200);
      expect(await other.account(email)).toMatchObject({ role: 'viewer' });
      const asked = ['/.well-known/openid-configuration', '/token', '/jwks', '/me'];
      expect(asked.map((path) => other.issuer.asked(path).length)).toEqual([1, 1, 1, 0]);
      // One look at its metadata and keys serves the next sign-ins.
      expect((await other.signIn(subject)).status).toBe(200);
      expect(asked.map((path) => other.issuer.asked(path).length)).toEqual([1, 2, 1, 0]);
      const unnamed = await new Client(other.test.url, undefined).get('/api/admin/oidc');
      expect(unnamed.body.name).toBe(new URL(other.issuer.url).host);
    } finally {
      await other.close();
    }
  });
});
