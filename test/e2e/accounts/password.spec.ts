import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { AdminClient, Client } from '../../support/client.js';
import { AccountDesk, ANOTHER, counted, outcome, PASSWORD } from './account-desk.js';

// Hashing gives way to all other processes of the machine.
vi.setConfig({ testTimeout: 60_000 });

let desk: AccountDesk;
beforeAll(async () => {
  desk = await AccountDesk.open();
});
afterEach(() => desk.test.clock.goOn());
afterAll(() => desk.close());

const change = (currentPassword: unknown = PASSWORD, newPassword: unknown = ANOTHER) => ({
  currentPassword,
  newPassword,
});

describe('PUT /api/admin/password 200', () => {
  it('changes it and ends every other session of the account, in every workspace, with its tokens', async () => {
    const account = await desk.account();
    const other = await desk.join(account);
    const browser = await desk.browser(account);
    const elsewhere = await desk.anyone.post('/api/admin/session', {
      email: account.email,
      password: PASSWORD,
      workspaceId: other.workspaceId,
    });
    expect(elsewhere.body.workspace.workspaceId).toBe(other.workspaceId);
    const second = await desk.browser(account);
    const { body: made } = await second.post('/operator-token');

    const before = new AdminClient(desk.test.url, browser.secret);
    const answer = await browser.put('/password', change());
    expect([answer.status, answer.body.endedSessions]).toEqual([200, 2]);
    desk.test.clock.advance(1000);
    // Whoever has the old cookie has not shown the password.
    expect(outcome(await before.get('/session'))).toBe('401 invalid_session');
    expect((await browser.get('/session')).status).toBe(200);
    expect(outcome(await second.get('/session'))).toBe('401 ended_session');
    expect(outcome(await new Client(desk.test.url, made.token).get('/profile'))).toBe('401 revoked_token');
    expect(await desk.openSessions(account)).toHaveLength(1);
    expect(await desk.passwordHash(account)).toMatch(/^\$argon2id\$/);
    expect(outcome(await desk.signIn(account))).toBe('401 invalid_credentials');
    expect((await desk.signIn(account, { password: ANOTHER })).status).toBe(201);
  });

  it('leaves one receipt in the chain of each workspace, and tells the owner by mail', async () => {
    const account = await desk.account();
    const other = await desk.join(account);
    await (await desk.browser(account)).put('/password', change());
    const own = await desk.receipt(desk.workspaceId, 'password.changed', account.memberId);
    expect(own).toMatchObject({ actor: { type: 'member', id: account.memberId, via: 'dashboard' } });
    const theirs = await desk.receipt(other.workspaceId, 'password.changed', other.memberId);
    expect(theirs).toMatchObject({ actor: { type: 'member', id: other.memberId, via: 'dashboard' } });
    const [mail] = await desk.mails(account.email, 1);
    expect(mail!.subject).toBe('Your password was changed (Consigliere)');
    expect(mail!.text).toContain('The password of your account was changed. That was on ');
    expect(mail!.text).not.toMatch(/https?:/);
    expect(await desk.receipt(desk.workspaceId, 'account.mailed', account.memberId)).toMatchObject({
      summary: expect.stringMatching(/ was told by mail what has changed in their account\.$/),
      details: { transport: 'smtp' },
    });
    await desk.receipt(other.workspaceId, 'account.mailed', other.memberId);
    for (const workspaceId of [desk.workspaceId, other.workspaceId]) {
      const all = JSON.stringify(await desk.receipts(workspaceId, '%'));
      expect(all).not.toContain(PASSWORD);
      expect(all).not.toContain(ANOTHER);
    }
    const changed = await desk.receipts(other.workspaceId, 'password.changed');
    expect(changed).toHaveLength(1);
    expect(await desk.test.rows('select 1 from account_acts')).toEqual([]);
    expect(await desk.test.rows('select 1 from account_mails')).toEqual([]);
  });

  it('takes emoji and every script, and is one password however a keyboard writes it', async () => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    const composed = 'caf\u00e9 \u{1f98a}\u{1f43b} пароль';
    expect((await browser.put('/password', change(PASSWORD, composed.normalize('NFD')))).status).toBe(200);
    expect((await desk.signIn(account, { password: composed })).status).toBe(201);
    expect((await desk.signIn(account, { password: composed.normalize('NFD') })).status).toBe(201);
    const fullwidth = 'ｃorrect pears and four trains';
    expect((await browser.put('/password', change(composed, fullwidth))).status).toBe(200);
    expect((await desk.signIn(account, { password: fullwidth.normalize('NFKC') })).status).toBe(201);
    expect(outcome(await desk.signIn(account, { password: fullwidth.toUpperCase() }))).toBe(
      '401 invalid_credentials',
    );
  });
});

describe('PUT /api/admin/password 401 and 403', () => {
  it('for nobody, without the CSRF token, and with another password than that of the account', async () => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    const before = await desk.passwordHash(account);
    expect((await desk.anyone.put('/api/admin/password', change())).status).toBe(401);
    expect(outcome(await browser.send('PUT', '/password', change(), { 'X-CSRF-Token': 'x' }))).toBe(
      '403 csrf_token',
    );
    expect(outcome(await browser.put('/password', change('not this password')))).toBe('403 wrong_password');
    expect(outcome(await browser.put('/password', change(`${PASSWORD} `)))).toBe('403 wrong_password');
    expect(outcome(await browser.put('/password', change(PASSWORD.toUpperCase())))).toBe(
      '403 wrong_password',
    );
    expect(await desk.passwordHash(account)).toBe(before);
    expect((await browser.get('/session')).status).toBe(200);
  });

  it('for an account that signs in at its organisation and has no password', async () => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    await desk.test.rows('update users set password_hash = null where user_id = $1', [account.userId]);
    const answer = await browser.put('/password', change());
    expect(outcome(answer)).toBe('403 no_password');
  });
});

describe('PUT /api/admin/password 422', () => {
  it.each([
    ['nothing', {}, ['currentPassword', 'newPassword']],
    ['numbers', change(1, 2), ['currentPassword', 'newPassword']],
    ['nine emoji', change(PASSWORD, '🦊🐻🐼🐨🐯🦁🐮🐷🐸'), ['newPassword']],
    ['201 characters', change(PASSWORD, `${'pear '.repeat(40)}!`), ['newPassword']],
    ['half an emoji', change(PASSWORD, 'nineteen pears \ud83d'), ['newPassword']],
    ['one that everybody tries', change(PASSWORD, 'Password123!'), ['newPassword']],
    ['the old one', change(PASSWORD, PASSWORD), ['newPassword']],
    ['a property more', { ...change(), email: 'x' }, ['email']],
  ])('for %s', async (_case, body, paths) => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    const before = await desk.passwordHash(account);
    const answer = await browser.put('/password', body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details.map(({ path }: { path: string }) => path).toSorted()).toEqual(paths);
    expect(await desk.passwordHash(account)).toBe(before);
    expect(await desk.receipts(desk.workspaceId, 'password.changed')).not.toContainEqual(
      expect.objectContaining({ entity: { type: 'member', id: account.memberId } }),
    );
  });

  it('for the address of the account with a few digits', async () => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    const answer = await browser.put('/password', change(PASSWORD, `${account.email}1!`));
    expect(answer.body.error.details[0].message).toMatch(
      /^newPassword must have at least 6 characters besides the names/,
    );
  });
});

describe('a change of the password at the same time as', () => {
  it('others that show the same password: one succeeds', async () => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => browser.put('/password', change(PASSWORD, `${ANOTHER} ${n}`))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(counted(answers)).toEqual({ 200: 1, '403 wrong_password': 7 });
    expect(await desk.receipts(desk.workspaceId, 'password.changed')).toEqual(
      expect.arrayContaining([expect.objectContaining({ entity: { type: 'member', id: account.memberId } })]),
    );
  });

  it('sign-ins with the old one: no session of theirs is left', async () => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    const signIns = Array.from({ length: 8 }, () => desk.signIn(account));
    const [changed] = await Promise.all([browser.put('/password', change()), ...signIns]);
    expect(changed.status).toBe(200);
    expect(await desk.openSessions(account)).toHaveLength(1);
  });
});
