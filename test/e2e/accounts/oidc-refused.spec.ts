import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Browser, type Page } from '../../support/browser.js';
import { CLIENT_SECRET, type TokenAnswer } from '../../support/oidc-issuer.js';
import { startTestApp } from '../../support/test-app.js';
import { CALLBACK, COOKIE, OidcDesk, SESSION_COOKIE, START } from './oidc-desk.js';

let desk: OidcDesk;
let before: string;
beforeAll(async () => {
  desk = await OidcDesk.open({ issuer: { inUserInfoOnly: false } });
});
afterAll(() => desk.close());
beforeEach(async () => {
  before = await desk.stored();
});
afterEach(() => {
  desk.issuer.tamper = undefined;
  desk.issuer.intercept = undefined;
  desk.test.clock.goOn();
});

/** A page that says so, with no session behind it and not a row made or changed. */
async function expectRefused(page: Page, status: number, sentence: string | RegExp): Promise<void> {
  expect(page.status, page.text).toBe(status);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.text).toContain('<h1 class="title" dir="auto">You are not signed in</h1>');
  expect(page.text.replaceAll('&#39;', "'")).toMatch(sentence);
  expect(page.headers.getSetCookie().join()).not.toContain(SESSION_COOKIE);
  expect(await desk.stored()).toBe(before);
}

const EXPIRED = /took longer than 10 minutes, was completed already, or was begun in another browser/;
const NOT_VERIFIED = /could not be verified, so nobody was signed in/;

/** The callback's address, with the browser that may open it, for somebody who has signed in at the provider. */
async function returning(
  subject: string,
  { browser = new Browser(), open = true } = {},
): Promise<{ browser: Browser; callback: URL; cookie: NonNullable<ReturnType<Browser['cookie']>> }> {
  const form = await desk.begin(browser);
  const cookie = browser.cookie(desk.test.url, COOKIE)!;
  // Without its cookie the callback is refused and changes nothing, but shows where the provider sends the browser.
  const stranger = { ...cookie, value: 'x' };
  browser.keep(desk.test.url, stranger);
  const page = await browser.submit(form, { login: subject });
  if (open) browser.keep(desk.test.url, cookie);
  return { browser, callback: page.url, cookie };
}

describe('GET /api/admin/oidc/start', () => {
  it.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/..//evil.example',
    'app',
    '',
  ])('422 for a returnTo that leads elsewhere: %j', async (returnTo) => {
    const browser = new Browser();
    const page = await desk.begin(browser, returnTo);
    expect(page.status).toBe(422);
    const { error } = JSON.parse(page.text);
    expect(error.details[0].path).toBe('returnTo');
    expect(browser.cookie(desk.test.url, COOKIE)).toBeUndefined();
  });

  it('404 where no provider is set up', async () => {
    const test = await startTestApp();
    try {
      for (const path of [START, CALLBACK]) {
        const page = await fetch(test.url + path, { redirect: 'manual' });
        const expected = path === START ? 404 : 400;
        expect([page.status, page.headers.getSetCookie()]).toEqual([expected, []]);
      }
      expect(await (await fetch(test.url + START)).text()).toContain(
        'Nobody signs in by OpenID Connect here.',
      );
      const offer = await fetch(`${test.url}/api/admin/oidc`);
      expect(await offer.json()).toEqual({ enabled: false, name: null, startPath: null });
    } finally {
      await test.close();
    }
  });
});

describe('GET /api/admin/oidc/callback: 400', () => {
  it('for a browser that has begun no sign-in', async () => {
    const { subject } = desk.person();
    const { callback } = await returning(subject);
    await expectRefused(await new Browser().open(callback), 400, EXPIRED);
    expect(desk.issuer.asked('/token').length).toBe(0);
  });

  it('for the sign-in of another browser: nobody signs a victim in to an account of their own', async () => {
    const { callback } = await returning(desk.person().subject);
    const victim = new Browser();
    await desk.begin(victim);
    await expectRefused(await victim.open(callback), 400, EXPIRED);
    // What the victim has begun goes on all the same.
    expect(victim.cookie(desk.test.url, COOKIE)).toBeDefined();
  });

  it.each([
    ['another state', (url: URL) => url.searchParams.set('state', 'x'.repeat(43))],
    ['no state', (url: URL) => url.searchParams.delete('state')],
    ['two states', (url: URL) => url.searchParams.append('state', 'x')],
  ])('for %s', async (_case, change) => {
    const { browser, callback } = await returning(desk.person().subject);
    change(callback);
    await expectRefused(await browser.open(callback), 400, EXPIRED);
  });

  it('for a cookie that was changed, or made for something else', async () => {
    const { browser, callback, cookie } = await returning(desk.person().subject);
    const values = ['', 'v1', 'v1.a.b', `${cookie.value}A`, `${cookie.value.slice(0, -8)}AAAAAAAA`, '%00'];
    for (const value of values) {
      browser.keep(desk.test.url, { ...cookie, value });
      await expectRefused(await browser.open(callback), 400, EXPIRED);
    }
  });

  it('ten minutes after the beginning', async () => {
    const { browser, callback } = await returning(desk.person().subject);
    desk.test.clock.advance(600_000);
    await expectRefused(await browser.open(callback), 400, EXPIRED);
  });

  it('for a callback that comes again, without asking the provider', async () => {
    const { subject } = desk.person();
    const { browser, callback, cookie } = await returning(subject);
    expect((await browser.open(callback)).status).toBe(200);
    before = await desk.stored();
    const asked = desk.issuer.asked('/token').length;
    await expectRefused(await browser.open(callback), 400, EXPIRED);
    // Even with the cookie that the browser has thrown away.
    browser.keep(desk.test.url, cookie);
    await expectRefused(await browser.open(callback), 400, EXPIRED);
    expect(desk.issuer.asked('/token').length).toBe(asked);
  });

  it('but for one of a hundred at a time', async () => {
    const { subject } = desk.person();
    const { callback, cookie } = await returning(subject);
    const asked = desk.issuer.asked('/token').length;
    const pages = await Promise.all(
      Array.from({ length: 100 }, () => {
        const browser = new Browser();
        browser.keep(desk.test.url, cookie);
        return browser.open(callback);
      }),
    );
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(pages.filter(({ status }) => status === 400)).toHaveLength(99);
    expect(desk.issuer.asked('/token').length).toBe(asked + 1);
  });

  it('for a code that the provider does not know', async () => {
    const { browser, callback } = await returning(desk.person().subject);
    callback.searchParams.set('code', 'made-up');
    await expectRefused(await browser.open(callback), 400, EXPIRED);
  });
});

describe('GET /api/admin/oidc/callback: 401', () => {
  it.each([
    [
      'comes from another issuer (RFC 9207)',
      (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
    ],
    ['does not say from which issuer it comes', (url: URL) => url.searchParams.delete('iss')],
    ['has two codes', (url: URL) => url.searchParams.append('code', 'another')],
    ['has no code', (url: URL) => url.searchParams.delete('code')],
  ])('for an answer that %s', async (_case, change) => {
    const { browser, callback } = await returning(desk.person().subject);
    change(callback);
    const asked = desk.issuer.asked('/token').length;
    await expectRefused(await browser.open(callback), 401, NOT_VERIFIED);
    expect(desk.issuer.asked('/token').length).toBe(asked);
  });

  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const now = Math.floor(Date.now() / 1000);
  it.each([
    ['signed by another key', { key: stranger }],
    ['signed by a key that the provider does not name', { key: stranger, header: { kid: 'key-2' } }],
    ['with alg none', { key: null, header: { alg: 'none' } }],
    ['with alg none in capitals', { key: null, header: { alg: 'NONE' } }],
    ['without its signature', { key: null }],
    ['signed with the secret of the client', { key: CLIENT_SECRET, header: { alg: 'HS256' } }],
    ['for another client', { claims: { aud: 'another' } }],
    ['for another client too', { claims: { aud: ['consigliere', 'another'], azp: 'another' } }],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['of another sign-in', { claims: { nonce: 'another' } }],
    ['of no sign-in', { claims: { nonce: undefined } }],
    ['that has expired', { claims: { exp: now - 3600, iat: now - 7200 } }],
    ['that was issued in the future', { claims: { iat: now + 600, exp: now + 7200 } }],
    ['without an expiry', { claims: { exp: undefined } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['of a subject that is empty', { claims: { sub: '' } }],
    ['of a subject with a control character', { claims: { sub: 'a\u0000b' } }],
    ['of a subject of 256 characters', { claims: { sub: 'a'.repeat(256) } }],
  ])('for an ID token %s', async (_case, forged) => {
    desk.issuer.tamper = (answer) => ({ ...answer, id_token: desk.issuer.forge(answer.id_token, forged) });
    await expectRefused(await desk.signIn(desk.person().subject), 401, NOT_VERIFIED);
  });

  it.each([
    ['no ID token', ({ id_token: _idToken, ...rest }: TokenAnswer) => rest],
    ['an ID token that is none', (answer: TokenAnswer) => ({ ...answer, id_token: 'a.b.c' })],
    ['an ID token that is a number', (answer: TokenAnswer) => ({ ...answer, id_token: 7 as never })],
    ['no access token', ({ access_token: _token, ...rest }: TokenAnswer) => rest],
  ])('for %s', async (_case, tamper) => {
    desk.issuer.tamper = tamper;
    await expectRefused(await desk.signIn(desk.person().subject), 401, NOT_VERIFIED);
  });

  it('lets the very same forging pass when it changes nothing, so that it is the change that is refused', async () => {
    desk.issuer.tamper = (answer) => ({ ...answer, id_token: desk.issuer.forge(answer.id_token, {}) });
    expect((await desk.signIn(desk.person().subject)).status).toBe(200);
  });

  it('for a user info of somebody else', async () => {
    const { subject } = desk.person();
    desk.issuer.tamper = (answer) => ({
      ...answer,
      id_token: desk.issuer.forge(answer.id_token, { claims: { email: undefined } }),
    });
    desk.issuer.intercept = ({ url }, response) => {
      if (url !== '/me') return false;
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ sub: 'another', email: 'jo@northwind.example', email_verified: true }));
      return true;
    };
    await expectRefused(await desk.signIn(subject), 401, NOT_VERIFIED);
  });
});

describe('GET /api/admin/oidc/callback: 403', () => {
  const expectRefusedFor = (person: Parameters<OidcDesk['person']>[0], sentence: RegExp) =>
    desk.signIn(desk.person(person).subject).then((page) => expectRefused(page, 403, sentence));

  it('for whoever cancels, without a word of the provider', async () => {
    const page = await desk.signIn(desk.person().subject, { error: 'access_denied' });
    await expectRefused(page, 403, /The sign-in was cancelled, or .+ does not let you use Consigliere\./);
    expect(page.text).not.toContain('alert');
  });

  it('for another error that the provider says', async () => {
    const page = await desk.signIn(desk.person().subject, { error: 'interaction_required' });
    await expectRefused(page, 403, /did not sign you in/);
  });

  it('for an account without an address', () =>
    expectRefusedFor({ email: undefined }, /did not send your mail/));

  it.each([false, undefined, null, 'true', 1])('for an address whose email_verified is %j', (verified) =>
    expectRefusedFor({ email_verified: verified }, /does not say that your mail address is verified/),
  );

  it.each([
    'jo@another.example',
    'jo@sub.northwind.example',
    'jo@notnorthwind.example',
    'jo@northwind.example.evil.example',
    'jo@example',
  ])('for an address of another domain: %s', (email) =>
    expectRefusedFor({ email }, /are not accepted here\.|is not one that can be used here/),
  );

  it.each([
    '@northwind.example',
    'jo@evil.example@northwind.example',
    'jo@northwind.example.',
    'jo@northwind.example\u0000',
    ' jo@northwind.example',
    'Jo <jo@northwind.example>',
    'j o@northwind.example',
    'northwind.example',
    '\u212aate@northwind.example',
    'ｊo@northwind.example',
    `${'a'.repeat(250)}@northwind.example`,
    ['jo@northwind.example'],
    7,
  ])('for what is no plain address: %j', (email) =>
    expectRefusedFor({ email }, /is not one that can be used here|did not send your mail address/),
  );

  it('for an account that has been somebody else at the provider, who has left their address behind', async () => {
    const { subject, email } = desk.person();
    await desk.signIn(subject);
    before = await desk.stored();
    await expectRefusedFor({ email }, /belongs to somebody else at your organisation's sign-in service/);
  });

  it('for a member who was removed, also under another address and without a session', async () => {
    const { subject, email } = desk.person();
    await desk.signIn(subject);
    const { member_id: memberId } = (await desk.account(email))!;
    expect((await desk.test.owner.delete(`/members/${memberId}`)).status).toBe(200);
    before = await desk.stored();
    await expectRefused(await desk.signIn(subject), 403, /You were removed from this workspace\./);
    desk.issuer.people.set(subject, { email: 'new@northwind.example', email_verified: true });
    await expectRefused(await desk.signIn(subject), 403, /You were removed from this workspace\./);
  });

  it('for a removed member who signs in this way for the first time', async () => {
    const member = await desk.test.createMember(desk.test.workspaceId, 'operator');
    const { subject, email } = desk.person();
    await desk.test.rows(
      'update users set email = $2 where user_id = (select user_id from members where member_id = $1)',
      [member.memberId, email],
    );
    await desk.test.owner.delete(`/members/${member.memberId}`);
    before = await desk.stored();
    await expectRefused(await desk.signIn(subject), 403, /You were removed from this workspace\./);
  });
});

describe('GET /api/admin/oidc/callback: 409', () => {
  it('when the workspace has as many members as it can have', async () => {
    const test = desk.test;
    const ids = Array.from({ length: 5_000 }, () => [newId('usr'), newId('mem')] as const);
    await test.rows(
      `insert into users (user_id, email, display_name) select id, id || '@example.com', 'Filler' from unnest($1::text[]) id`,
      [ids.map(([userId]) => userId)],
    );
    await test.rows(
      `insert into members (member_id, workspace_id, user_id, role)
       select member_id, $3, user_id, 'viewer' from unnest($1::text[], $2::text[]) as t (user_id, member_id)`,
      [ids.map(([userId]) => userId), ids.map(([, memberId]) => memberId), test.workspaceId],
    );
    before = await desk.stored();
    const { subject } = desk.person();
    await expectRefused(await desk.signIn(subject), 409, /has reached its limit of 5,000 members/);
    await test.rows('delete from members where user_id = any($1)', [ids.map(([userId]) => userId)]);
    expect((await desk.signIn(subject)).status).toBe(200);
  });
});
