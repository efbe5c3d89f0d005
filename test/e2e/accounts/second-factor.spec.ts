import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { AdminClient, Client } from '../../support/client.js';
import { eventually } from '../../support/test-app.js';
import {
  AccountDesk,
  ANOTHER,
  Browser,
  counted,
  MINUTE_MS,
  outcome,
  overlapping,
  PASSWORD,
  recoverSecondFactor,
  type TestAccount,
} from './account-desk.js';

// Hashing gives way to all other processes of the machine.
vi.setConfig({ testTimeout: 60_000 });

let desk: AccountDesk;
beforeAll(async () => {
  desk = await AccountDesk.open();
});
// Codes change every thirty seconds.
beforeEach(() => desk.test.clock.stopAtMinute());
afterEach(() => desk.test.clock.goOn());
afterAll(() => desk.close());

const nextStep = () => desk.test.clock.advance(30_000);

/** An account with a second factor, whose last code was used a step ago. */
async function withFactor(): Promise<{
  account: TestAccount;
  browser: Browser;
  secret: string;
  recoveryCodes: string[];
}> {
  const account = await desk.account();
  const browser = await desk.browser(account);
  const factor = await desk.setUpSecondFactor(browser);
  nextStep();
  return { account, browser, ...factor };
}

/** What a sign-in and a change of the account lock; rows that only refer to it can be written meanwhile. */
const rowOf = ({ userId }: TestAccount) => ({
  text: 'select from users where user_id = $1 for no key update',
  values: [userId],
});

const stored = ({ userId }: TestAccount) =>
  desk.test.rows('select * from second_factors where user_id = $1', [userId]);

describe('POST /api/admin/second-factor', () => {
  it('201 shows a secret, which is kept sealed, and asks for nothing before it is confirmed', async () => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    const { status, body } = await browser.post('/second-factor', { password: PASSWORD });
    expect(status).toBe(201);
    expect(body.secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(new URL(body.uri).searchParams.get('secret')).toBe(body.secret);
    expect(decodeURIComponent(body.uri)).toContain(`Consigliere:${account.email}`);
    expect(body.expiresAt).toBe(desk.test.clock.now() + 10 * MINUTE_MS);
    const [row] = await stored(account);
    expect(row).toMatchObject({ confirmed_at: null, last_step: null });
    expect(JSON.stringify(row)).not.toContain(body.secret);
    expect(JSON.stringify(desk.test.logs)).not.toContain(body.secret);
    expect((await browser.get('/second-factor')).body).toEqual({
      isSetUp: false,
      since: null,
      recoveryCodesLeft: 0,
      isRequired: false,
    });
    expect((await desk.signIn(account)).status).toBe(201);
  });

  it('begins anew: the secret of before confirms nothing', async () => {
    const browser = await desk.browser(await desk.account());
    const first = await browser.post('/second-factor', { password: PASSWORD });
    const second = await browser.post('/second-factor', { password: PASSWORD });
    expect(second.body.secret).not.toBe(first.body.secret);
    const old = await browser.post('/second-factor/confirm', { code: desk.code(first.body.secret) });
    expect(outcome(old)).toBe('403 wrong_code');
    const code = desk.code(second.body.secret);
    expect((await browser.post('/second-factor/confirm', { code })).status).toBe(201);
  });

  it('403 for a wrong password, 409 for an account that has one, 422 for no password', async () => {
    const { account, browser } = await withFactor();
    const before = await stored(account);
    expect(outcome(await browser.post('/second-factor', { password: 'not this one' }))).toBe(
      '403 wrong_password',
    );
    expect(outcome(await browser.post('/second-factor', { password: PASSWORD }))).toBe(
      '409 second_factor_exists',
    );
    for (const body of [{}, { password: 1 }, { password: PASSWORD, more: 1 }]) {
      expect((await browser.post('/second-factor', body)).status).toBe(422);
    }
    expect(await stored(account)).toEqual(before);
  });
});

describe('POST /api/admin/second-factor/confirm', () => {
  it('201 shows ten recovery codes, kept as hashes, and ends the sessions that were begun without it', async () => {
    const account = await desk.account();
    const other = await desk.join(account);
    const [browser, second] = [await desk.browser(account), await desk.browser(account)];
    const before = new AdminClient(desk.test.url, browser.secret);
    const { recoveryCodes } = await desk.setUpSecondFactor(browser);
    expect(recoveryCodes).toHaveLength(10);
    for (const code of recoveryCodes)
      expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{6}-){3}[0-9a-hjkmnp-tv-z]{6}$/);
    const rows = await desk.test.rows<{ code_hash: string }>(
      'select code_hash, used_at from recovery_codes where user_id = $1',
      [account.userId],
    );
    expect(rows.map(({ code_hash }) => code_hash).toSorted()).toEqual(
      recoveryCodes.map((code) => sha256(code.replaceAll('-', ''))).toSorted(),
    );
    desk.test.clock.advance(1000);
    expect(outcome(await second.get('/session'))).toBe('401 ended_session');
    expect(outcome(await before.get('/session'))).toBe('401 invalid_session');
    expect((await browser.get('/session')).body.secondFactor).toBe(true);
    expect((await browser.get('/second-factor')).body).toMatchObject({
      isSetUp: true,
      recoveryCodesLeft: 10,
    });
    const own = await desk.receipt(desk.workspaceId, 'second_factor.added', account.memberId);
    expect(own).toMatchObject({ actor: { type: 'member' }, details: { endedSessions: 1 } });
    await desk.receipt(other.workspaceId, 'second_factor.added', other.memberId);
    const [mail] = await desk.mails(account.email, 1);
    expect(mail!.subject).toBe('A second factor was set up (Consigliere)');
  });

  it('403 for a wrong code, 409 when nothing was begun, or longer than ten minutes ago', async () => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    expect(outcome(await browser.post('/second-factor/confirm', { code: '123456' }))).toBe(
      '409 no_second_factor',
    );
    const { secret } = (await browser.post('/second-factor', { password: PASSWORD })).body;
    for (const code of [
      '000000',
      '',
      'abcdef',
      desk.code(secret, 2),
      desk.code(secret, -2),
      '1'.repeat(24),
    ]) {
      expect(outcome(await browser.post('/second-factor/confirm', { code }))).toBe('403 wrong_code');
    }
    desk.test.clock.advance(10 * MINUTE_MS);
    expect(outcome(await browser.post('/second-factor/confirm', { code: desk.code(secret) }))).toBe(
      '409 no_second_factor',
    );
    expect((await stored(account))[0]!['confirmed_at']).toBeNull();
    expect((await browser.post('/second-factor/confirm', { code: 123456 })).status).toBe(422);
    expect((await browser.post('/second-factor/confirm', {})).status).toBe(422);
  });

  it('confirms once of ten at a time, with one set of codes', async () => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    const { secret } = (await browser.post('/second-factor', { password: PASSWORD })).body;
    const code = desk.code(secret);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => browser.post('/second-factor/confirm', { code })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const rows = await desk.test.rows('select 1 from recovery_codes where user_id = $1', [account.userId]);
    expect(rows).toHaveLength(10);
  });

  it('leaves no session that was begun without it at the same time', async () => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    const { secret } = (await browser.post('/second-factor', { password: PASSWORD })).body;
    const code = desk.code(secret);
    await Promise.all([
      browser.post('/second-factor/confirm', { code }),
      ...Array.from({ length: 8 }, () => desk.signIn(account)),
    ]);
    expect(await desk.openSessions(account)).toHaveLength(1);
  });
});

describe('POST /api/admin/second-factor/confirm 409', () => {
  it('says that what was begun is gone when another was begun meanwhile', async () => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    const { secret } = (await browser.post('/second-factor', { password: PASSWORD })).body;
    const [confirmed, begun] = await overlapping(
      desk.test,
      rowOf(account),
      () => browser.post('/second-factor/confirm', { code: desk.code(secret) }),
      () => browser.post('/second-factor', { password: PASSWORD }),
    );
    expect([begun.status, outcome(confirmed)]).toEqual([201, '409 no_second_factor']);
    const code = desk.code(begun.body.secret);
    expect((await browser.post('/second-factor/confirm', { code })).status).toBe(201);
  });
});

describe('POST /api/admin/session with a second factor', () => {
  it('404 for a workspace that the account is not in uses up no code', async () => {
    const { account, recoveryCodes } = await withFactor();
    const { workspaceId } = await desk.test.createWorkspace();
    const [code] = recoveryCodes;
    const elsewhere = { email: account.email, password: PASSWORD, code, workspaceId };
    expect((await desk.anyone.post('/api/admin/session', elsewhere)).status).toBe(404);
    expect((await desk.signIn(account, { code: code! })).status).toBe(201);
  });

  it('401 asks for the code, after the right password alone', async () => {
    const { account, secret } = await withFactor();
    expect(outcome(await desk.signIn(account))).toBe('401 second_factor_required');
    expect(outcome(await desk.signIn(account, { password: 'not this one' }))).toBe('401 invalid_credentials');
    const both = { password: 'not this one', code: desk.code(secret) };
    expect(outcome(await desk.signIn(account, both))).toBe('401 invalid_credentials');
    // The code was not used up by that.
    expect((await desk.signIn(account, { code: both.code })).status).toBe(201);
  });

  it('201 with a code of this step, the one before or the one after, however it is typed', async () => {
    const { account, secret } = await withFactor();
    const answer = await desk.signIn(account, {
      code: ` ${desk.code(secret, -1).slice(0, 3)} ${desk.code(secret, -1).slice(3)}`,
    });
    // It was the one that confirmed it.
    expect(outcome(answer)).toBe('401 wrong_code');
    const now = await desk.signIn(account, { code: desk.code(secret).replace(/^.{3}/, '$& ') });
    expect([now.status, now.body.secondFactor, now.body.lacksSecondFactor]).toEqual([201, true, false]);
    expect((await desk.signIn(account, { code: desk.code(secret, 1) })).status).toBe(201);
    desk.test.clock.advance(3 * 30_000);
    expect((await desk.signIn(account, { code: desk.code(secret, -1) })).status).toBe(201);
    expect(outcome(await desk.signIn(account, { code: desk.code(secret, 2) }))).toBe('401 wrong_code');
    expect(outcome(await desk.signIn(account, { code: desk.code(secret, -2) }))).toBe('401 wrong_code');
  });

  it('401 for a code that was used, or is older than the last one', async () => {
    const { account, secret } = await withFactor();
    const [now, next] = [desk.code(secret), desk.code(secret, 1)];
    expect((await desk.signIn(account, { code: next })).status).toBe(201);
    expect(outcome(await desk.signIn(account, { code: next }))).toBe('401 wrong_code');
    expect(outcome(await desk.signIn(account, { code: now }))).toBe('401 wrong_code');
  });

  it('accepts one of 100 uses of a code at a time', async () => {
    const { account, secret } = await withFactor();
    const code = desk.code(secret);
    const answers = await Promise.all(
      (await desk.knownAddresses(account, 100)).map((address) => desk.signIn(account, { code, address })),
    );
    expect(counted(answers)).toEqual({ 201: 1, '401 wrong_code': 99 });
  });

  it('201 with a recovery code, once, with a receipt and a mail', async () => {
    const { account, recoveryCodes } = await withFactor();
    const [code] = recoveryCodes;
    const answer = await desk.signIn(account, { code: code!.toUpperCase().replaceAll('-', ' ') });
    expect([answer.status, answer.body.secondFactor]).toEqual([201, true]);
    expect(outcome(await desk.signIn(account, { code: code! }))).toBe('401 wrong_code');
    await desk.receipt(desk.workspaceId, 'second_factor.recovery_code_used', account.memberId);
    const mails = await desk.mails(account.email, 2);
    expect(mails.map(({ subject }) => subject)).toContain('A recovery code was used (Consigliere)');
    const left = await desk.test.rows('select 1 from recovery_codes where user_id = $1 and used_at is null', [
      account.userId,
    ]);
    expect(left).toHaveLength(9);
  });

  it('accepts one of 100 uses of a recovery code at a time', async () => {
    const { account, recoveryCodes } = await withFactor();
    const answers = await Promise.all(
      (await desk.knownAddresses(account, 100)).map((address) =>
        desk.signIn(account, { code: recoveryCodes[0]!, address }),
      ),
    );
    expect(counted(answers)).toEqual({ 201: 1, '401 wrong_code': 99 });
  });

  it('counts wrong codes with wrong passwords, and no missing code', async () => {
    const { account, secret } = await withFactor();
    const address = '192.0.2.60';
    for (let n = 0; n < 5; n++) {
      expect(outcome(await desk.signIn(account, { code: '000000', address }))).toBe('401 wrong_code');
      expect(outcome(await desk.signIn(account, { address }))).toBe('401 second_factor_required');
    }
    for (let n = 0; n < 5; n++) await desk.signIn(account, { password: 'not this one', address });
    expect(outcome(await desk.signIn(account, { code: desk.code(secret), address }))).toBe(
      '429 sign_in_locked',
    );
    expect((await desk.signIn(account, { code: desk.code(secret) })).status).toBe(201);
  });

  it('422 for a code that is no text, and takes one that no factor asks for', async () => {
    const account = await desk.account();
    const bad = await desk.anyone.post('/api/admin/session', {
      email: account.email,
      password: PASSWORD,
      code: 1,
    });
    expect([bad.status, bad.body.error.details[0].path]).toEqual([422, 'code']);
    expect((await desk.signIn(account, { code: '123456' })).status).toBe(201);
  });

  it('still takes recovery codes when the secret cannot be decrypted any more', async () => {
    const { account, secret, recoveryCodes } = await withFactor();
    await desk.test.rows(`update second_factors set sealed_secret = 'v1.x.y' where user_id = $1`, [
      account.userId,
    ]);
    expect(outcome(await desk.signIn(account, { code: desk.code(secret) }))).toBe('401 wrong_code');
    expect((await desk.signIn(account, { code: recoveryCodes[1]! })).status).toBe(201);
  });
});

describe('POST /api/admin/second-factor/recovery-codes', () => {
  it('201 puts ten others in their place', async () => {
    const { account, browser, secret, recoveryCodes } = await withFactor();
    const { status, body } = await browser.post('/second-factor/recovery-codes', {
      password: PASSWORD,
      code: desk.code(secret),
    });
    expect([status, body.recoveryCodes.length]).toEqual([201, 10]);
    expect(outcome(await desk.signIn(account, { code: recoveryCodes[0]! }))).toBe('401 wrong_code');
    expect((await desk.signIn(account, { code: body.recoveryCodes[0] })).status).toBe(201);
    await desk.receipt(desk.workspaceId, 'second_factor.recovery_codes_renewed', account.memberId);
  });

  it('403 for a wrong password or code, 409 without a second factor; nothing changes', async () => {
    const { account, browser, secret } = await withFactor();
    const codes = () =>
      desk.test.rows('select * from recovery_codes where user_id = $1 order by 2', [account.userId]);
    const before = await codes();
    const code = desk.code(secret);
    const path = '/second-factor/recovery-codes';
    expect(outcome(await browser.post(path, { password: 'not this one', code }))).toBe('403 wrong_password');
    expect(outcome(await browser.post(path, { password: PASSWORD, code: '000000' }))).toBe('403 wrong_code');
    expect((await browser.post(path, { password: PASSWORD })).status).toBe(422);
    const without = await desk.browser(await desk.account());
    expect(outcome(await without.post(path, { password: PASSWORD, code }))).toBe('409 no_second_factor');
    expect(await codes()).toEqual(before);
  });
});

describe('DELETE /api/admin/second-factor', () => {
  it('200 removes it by password and code; other sessions end, and nobody is asked for a code', async () => {
    const { account, browser, secret } = await withFactor();
    const second = await desk.browser(account, { code: desk.code(secret) });
    nextStep();
    const answer = await browser.send('DELETE', '/second-factor', {
      password: PASSWORD,
      code: desk.code(secret),
    });
    expect([answer.status, answer.body]).toEqual([
      200,
      { isSetUp: false, since: null, recoveryCodesLeft: 0, isRequired: false },
    ]);
    expect(await stored(account)).toEqual([]);
    expect(await desk.test.rows('select 1 from recovery_codes where user_id = $1', [account.userId])).toEqual(
      [],
    );
    desk.test.clock.advance(1000);
    expect(outcome(await second.get('/session'))).toBe('401 ended_session');
    expect((await browser.get('/session')).body.secondFactor).toBe(false);
    expect((await desk.signIn(account)).status).toBe(201);
    await desk.receipt(desk.workspaceId, 'second_factor.removed', account.memberId);
    const mails = await desk.mails(account.email, 2);
    expect(mails.map(({ subject }) => subject)).toContain('Your second factor was removed (Consigliere)');
  });

  it('200 with a recovery code, for whoever has lost the authenticator', async () => {
    const { account, browser, recoveryCodes } = await withFactor();
    const body = { password: PASSWORD, code: recoveryCodes[9] };
    expect((await browser.send('DELETE', '/second-factor', body)).status).toBe(200);
    expect((await desk.signIn(account)).status).toBe(201);
  });

  it('leaves no session that was begun with it at the same time', async () => {
    const { account, browser, recoveryCodes } = await withFactor();
    const [signedIn, removed] = await overlapping(
      desk.test,
      rowOf(account),
      () => desk.signIn(account, { code: recoveryCodes[0]! }),
      () => browser.send('DELETE', '/second-factor', { password: PASSWORD, code: recoveryCodes[1] }),
    );
    expect(removed.status).toBe(200);
    expect(signedIn.status).toBeOneOf([201, 401]);
    expect(await desk.openSessions(account)).toHaveLength(1);
    expect((await browser.get('/session')).status).toBe(200);
  });

  it('403 and 409 change nothing, and no CSRF token is 403', async () => {
    const { account, browser, secret } = await withFactor();
    const before = await stored(account);
    const remove = (body: object, headers = {}) => browser.send('DELETE', '/second-factor', body, headers);
    expect(outcome(await remove({ password: ANOTHER, code: desk.code(secret) }))).toBe('403 wrong_password');
    expect(outcome(await remove({ password: PASSWORD, code: '000000' }))).toBe('403 wrong_code');
    const right = { password: PASSWORD, code: desk.code(secret) };
    expect(outcome(await remove(right, { 'X-CSRF-Token': '' }))).toBe('403 csrf_token');
    expect(await stored(account)).toEqual(before);
    const without = await desk.browser(await desk.account());
    expect(outcome(await without.send('DELETE', '/second-factor', right))).toBe('409 no_second_factor');
  });
});

describe('POST /api/admin/second-factor/verify', () => {
  /** As an organisation's own sign-in begins a session, which vouches for no second factor. */
  async function atOrganisation({ memberId }: TestAccount): Promise<Browser> {
    const { secret } = await desk.test.signIn(memberId);
    const browser = new Browser(desk.test.url, secret);
    await desk.test.rows(`update sessions set method = 'oidc' where secret_hash = $1`, [
      sha256(browser.secret),
    ]);
    return browser;
  }

  it('200 opens a session that was begun at an organisation, which the account’s factor else keeps shut', async () => {
    const { account, secret } = await withFactor();
    const browser = await atOrganisation(account);
    expect((await browser.get('/session')).body.lacksSecondFactor).toBe(true);
    expect(outcome(await browser.get('/workspace'))).toBe('403 second_factor_required');
    expect(outcome(await browser.post('/second-factor/verify', { code: '000000' }))).toBe('403 wrong_code');
    const before = new AdminClient(desk.test.url, browser.secret);
    const { status, body } = await browser.post('/second-factor/verify', { code: desk.code(secret) });
    expect([status, body.isSetUp]).toEqual([200, true]);
    desk.test.clock.advance(1000);
    // Whoever has the old cookie has not shown the code.
    expect(outcome(await before.get('/session'))).toBe('401 invalid_session');
    expect((await browser.get('/workspace')).status).toBe(200);
    const { sessionId } = (await browser.get('/session')).body;
    await desk.receipt(desk.workspaceId, 'session.second_factor_shown', sessionId);
    expect(outcome(await browser.post('/second-factor/verify', { code: desk.code(secret) }))).toBe(
      '403 wrong_code',
    );
  });

  it('409 without a second factor, 422 without a code', async () => {
    const browser = await atOrganisation(await desk.account());
    expect(outcome(await browser.post('/second-factor/verify', { code: '000000' }))).toBe(
      '409 no_second_factor',
    );
    expect((await browser.post('/second-factor/verify', {})).status).toBe(422);
    expect((await browser.get('/workspace')).status).toBe(200);
  });
});

describe('npm run recover -- --second-factor', () => {
  const recover = (...argumentList: string[]) => recoverSecondFactor(desk.test, ...argumentList);

  it('removes it for whoever has lost authenticator and recovery codes, with a receipt and a mail', async () => {
    const { account } = await withFactor();
    expect(await recover(account.email.toUpperCase())).toMatch(/has no second factor any more/);
    expect(await stored(account)).toEqual([]);
    expect(await desk.openSessions(account)).toEqual([]);
    expect((await desk.signIn(account)).status).toBe(201);
    const receipt = await desk.receipt(desk.workspaceId, 'second_factor.removed_on_server', account.memberId);
    expect(receipt).toMatchObject({ actor: { type: 'system' }, details: { endedSessions: 1 } });
    const mails = await desk.mails(account.email, 2);
    expect(mails.at(-1)!.text).toContain('by the operator of the server');
  });

  it('says whose it cannot remove', async () => {
    const { email } = await desk.account();
    expect(await recover(email)).toMatch(`There is no account ${email} with a second factor.`);
    expect(await recover()).toMatch('Say whose: --second-factor <mail address>.');
  });
});

describe('an invite', () => {
  const accept = async (
    workspaceId: string,
    email: string,
    role: string,
    displayName = `Jo ${email.split('@')[0]}`,
  ) => {
    const owner = await desk.test.signIn((await desk.test.createMember(workspaceId, 'owner')).memberId);
    expect((await owner.post('/members', { email, role })).status).toBe(201);
    const link = await eventually(async () =>
      (await desk.mailsTo(email))
        .map(({ text }) => /\/invites\/([\w-]{43})/.exec(text!)?.[1])
        .findLast(Boolean),
    );
    return desk.anyone.post('/invites/accept', { token: link, displayName, password: PASSWORD });
  };

  it('answers no token to an account with a second factor, by its password alone', async () => {
    const { account, secret } = await withFactor();
    const { workspaceId } = await desk.test.createWorkspace();
    const { status, body } = await accept(workspaceId, account.email, 'operator');
    expect([status, body.token]).toEqual([201, null]);
    const tokens = await desk.test.rows('select 1 from tokens where member_id = $1', [body.memberId]);
    expect(tokens).toEqual([]);
    expect((await desk.signIn(account, { code: desk.code(secret) })).status).toBe(201);
  });

  it('to a team answers none to an admin of the workspace who has to set up a second factor', async () => {
    const { workspaceId } = await desk.test.createWorkspace();
    const teamId = await desk.test.createTeam(workspaceId, 'Marketing');
    const account = await desk.account('admin', workspaceId);
    const teamAdmin = await desk.test.createMember(workspaceId, 'operator', [teamId]);
    await desk.test.rows(`update team_members set role = 'admin' where member_id = $1`, [teamAdmin.memberId]);
    await desk.test.rows(`update workspaces set second_factor = 'required' where workspace_id = $1`, [
      workspaceId,
    ]);
    const { email } = account;
    const invited = await teamAdmin.post(`/teams/${teamId}/members`, { email, role: 'viewer' });
    expect(invited.status).toBe(201);
    const [mail] = await desk.mails(email, 1);
    const [, token] = /\/invites\/([\w-]{43})/.exec(mail!.text!)!;
    const accepted = { token, displayName: 'Jo Two', password: PASSWORD };
    const { status, body } = await desk.anyone.post('/invites/accept', accepted);
    expect([status, body.memberId, body.role, body.token]).toEqual([201, account.memberId, 'viewer', null]);
  });

  it('answers none to who has to set up a second factor, and one to all others', async () => {
    const { workspaceId } = await desk.test.createWorkspace();
    const ask = (setting: string) =>
      desk.test.rows('update workspaces set second_factor = $2 where workspace_id = $1', [
        workspaceId,
        setting,
      ]);
    await ask('required');
    expect((await accept(workspaceId, 'admin@northwind.example', 'admin')).body.token).toBeNull();
    const operator = await accept(workspaceId, 'operator@northwind.example', 'operator');
    expect(operator.body.token).toMatchObject({ token: expect.any(String) });
    await ask('everyone');
    expect((await accept(workspaceId, 'viewer@northwind.example', 'viewer')).body.token).toBeNull();
  });
});

describe('a workspace that requires a second factor', () => {
  it('is made one by an owner alone, with a receipt', async () => {
    const { workspaceId, owner } = await desk.test.createWorkspace();
    const admin = await desk.test.createMember(workspaceId, 'admin');
    const refused = await admin.put('/settings', { secondFactor: 'required' });
    expect([refused.status, refused.body.error.details]).toEqual([403, { requiredRoles: ['owner'] }]);
    expect(
      (await admin.put('/settings', { timezone: 'Europe/Vienna', secondFactor: 'optional' })).status,
    ).toBe(200);
    expect((await owner.get('/settings')).body.secondFactor).toBe('optional');
    expect((await owner.put('/settings', { secondFactor: 'required' })).body.secondFactor).toBe('required');
    expect((await admin.put('/settings', { secondFactor: 'optional' })).status).toBe(403);
    const receipts = await desk.receipts(workspaceId, 'settings.changed');
    expect(receipts.at(-1).details).toEqual({
      old: { secondFactor: 'optional' },
      new: { secondFactor: 'required' },
    });
    for (const secondFactor of [true, null, 'always', '']) {
      expect((await owner.put('/settings', { secondFactor })).status).toBe(422);
    }
  });

  it('asks it of every role, if it says so', async () => {
    const { workspaceId, owner } = await desk.test.createWorkspace();
    expect((await owner.put('/settings', { secondFactor: 'everyone' })).body.secondFactor).toBe('everyone');
    for (const role of ['viewer', 'operator', 'admin', 'owner'] as const) {
      const browser = await desk.browser(await desk.account(role, workspaceId));
      expect(outcome(await browser.get('/workspace')), role).toBe('403 second_factor_required');
    }
  });

  it('asks it of nobody without a password, whose organisation signs them in', async () => {
    const { workspaceId } = await desk.test.createWorkspace();
    const account = await desk.account('admin', workspaceId);
    await desk.test.rows(`update workspaces set second_factor = 'required' where workspace_id = $1`, [
      workspaceId,
    ]);
    await desk.test.rows('update users set password_hash = null where user_id = $1', [account.userId]);
    const browser = await desk.test.signIn(account.memberId);
    expect((await browser.get('/workspace')).status).toBe(200);
  });

  it('opens to owner and admin without one only what sets it up, and to others everything', async () => {
    const { workspaceId } = await desk.test.createWorkspace();
    const before = await desk.browser(await desk.account('owner', workspaceId));
    await desk.test.rows(`update workspaces set second_factor = 'required' where workspace_id = $1`, [
      workspaceId,
    ]);
    const operator = await desk.browser(await desk.account('operator', workspaceId));
    expect((await operator.get('/workspace')).status).toBe(200);
    expect((await operator.get('/second-factor')).body.isRequired).toBe(false);
    desk.test.clock.advance(1000);
    expect(outcome(await before.get('/workspace'))).toBe('403 second_factor_required');
    const signedOut = new Client(desk.test.url, (await before.post('/operator-token')).body.token);
    expect((await before.send('DELETE', '/session')).status).toBe(200);
    expect(outcome(await signedOut.post('/guardian/kill-switch'))).toBe('401 revoked_token');

    for (const role of ['owner', 'admin'] as const) {
      const account = await desk.account(role, workspaceId);
      const browser = await desk.browser(account);
      expect((await browser.get('/session')).body).toMatchObject({
        lacksSecondFactor: true,
        workspace: { requiresSecondFactor: true },
      });
      expect(outcome(await browser.get('/workspace'))).toBe('403 second_factor_required');
      const change = { currentPassword: PASSWORD, newPassword: ANOTHER };
      expect(outcome(await browser.put('/password', change))).toBe('403 second_factor_required');
      expect((await browser.get('/sessions')).status).toBe(200);
      expect((await browser.get('/second-factor')).body.isRequired).toBe(true);

      // Anyone who may act may stop; only those who have set it up may restart, or do anything else.
      const { token } = (await browser.post('/operator-token')).body;
      // A process of the version before, which runs during an upgrade, has to refuse it: it knows no token that opens so little.
      const [found] = await desk.test.rows('select revoked_at from app.find_caller($1)', [sha256(token)]);
      expect(found!.revoked_at).toBeInstanceOf(Date);
      const dashboard = new Client(desk.test.url, token);
      expect((await dashboard.post('/guardian/kill-switch')).body.mode).toBe('killed');
      for (const [method, path] of [
        ['POST', '/guardian/revert'],
        ['GET', '/guardian'],
        ['GET', '/feed/stream'],
        ['POST', '/directive'],
        ['POST', '/api/local/hydrate'],
      ] as const) {
        expect(outcome(await dashboard.send(method, path)), path).toBe('403 second_factor_required');
      }
      const { secret } = await desk.setUpSecondFactor(browser);
      desk.test.clock.advance(1000);
      expect((await browser.get('/workspace')).status).toBe(200);
      expect((await browser.get('/session')).body.lacksSecondFactor).toBe(false);
      desk.test.clock.advance(29_000);
      const again = await desk.browser(account, { code: desk.code(secret) });
      expect((await again.get('/workspace')).status).toBe(200);

      nextStep();
      const removed = await again.send('DELETE', '/second-factor', {
        password: PASSWORD,
        code: desk.code(secret),
      });
      expect(removed.body.isRequired).toBe(true);
      desk.test.clock.advance(1000);
      expect(outcome(await again.get('/workspace'))).toBe('403 second_factor_required');
    }
  });
});
