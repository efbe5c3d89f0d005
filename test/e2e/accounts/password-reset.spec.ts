import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { inWords } from '../../../src/platform/kernel/local-day.js';
import { Client } from '../../support/client.js';
import { eventually } from '../../support/test-app.js';
import {
  AccountDesk,
  addresses,
  ANOTHER,
  counted,
  MINUTE_MS,
  outcome,
  PASSWORD,
  type TestAccount,
  told,
} from './account-desk.js';

// Hashing gives way to all other processes of the machine.
vi.setConfig({ testTimeout: 60_000 });

let desk: AccountDesk;
beforeAll(async () => {
  desk = await AccountDesk.open();
});
afterEach(() => desk.test.clock.goOn());
afterAll(() => desk.close());

/** Nothing is left to be mailed. */
const mailed = () =>
  eventually(
    () =>
      desk.test.rows(
        `select 1 from work_items where kind in ('password.mail', 'account.mail', 'account.record')`,
      ),
    (rows) => rows.length === 0,
  );

const page = async (
  token: string,
  form?: Record<string, string>,
  address = new Client('', undefined).address,
  headers: Record<string, string> = {},
) => {
  const response = await fetch(`${desk.test.url}/password/${token}`, {
    headers: { 'X-Forwarded-For': address, ...headers },
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe('POST /api/admin/password/forgotten 202', () => {
  it('says the same of an account, of none, of one without a password and of one that is removed', async () => {
    const account = await desk.account();
    const without = await desk.account();
    await desk.test.rows('update users set password_hash = null where user_id = $1', [without.userId]);
    const answers = [
      await desk.forgotten(account.email),
      await desk.forgotten('stranger@northwind.example'),
      await desk.forgotten(without.email),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(new Set(answers.map(told)).size).toBe(1);
    await desk.mails(account.email, 1);
    await mailed();
    expect(await desk.mailsTo('stranger@northwind.example')).toEqual([]);
    expect(await desk.mailsTo(without.email)).toEqual([]);
  });

  it('writes the same rows, and asks the same of the database, whether or not there is an account', async () => {
    const account = await desk.account();
    const roundTrips: unknown[] = [];
    for (const email of [account.email, 'unknown@northwind.example']) {
      const answer = await desk.forgotten(email);
      const requestId = answer.headers.get('x-request-id');
      const log = await eventually(async () => desk.test.logs.find((one) => one['requestId'] === requestId));
      roundTrips.push(log!['roundTrips']);
      const rows = await desk.test.rows('select reset_id from password_resets where email = $1', [email]);
      expect(rows).toHaveLength(1);
    }
    expect(roundTrips[0]).toEqual(expect.any(Number));
    expect(roundTrips[1]).toBe(roundTrips[0]);
  });

  it('mails a link whose token is kept nowhere else', async () => {
    const account = await desk.account();
    desk.test.clock.stopAtMinute();
    const token = await desk.resetToken(account);
    await mailed();
    const [mail] = await desk.mailsTo(account.email);
    expect(mail!.subject).toBe('Set a new password (Consigliere)');
    expect(mail!.to).toMatchObject([{ address: account.email }]);
    expect(mail!.text).toContain(`until ${inWords(desk.test.clock.now() + 30 * MINUTE_MS, 'UTC')}.`);
    expect(mail!.text).toContain(`${desk.test.url}/password/${token}`);
    const [row] = await desk.test.rows('select * from password_resets where email = $1', [account.email]);
    expect(row).toMatchObject({ token_hash: sha256(token), sealed_token: null, used_at: null });
    expect(JSON.stringify(desk.test.logs)).not.toContain(token);
    const receipt = await desk.receipt(desk.workspaceId, 'password.reset_mailed', account.memberId);
    expect(receipt).toMatchObject({ actor: { type: 'system' }, details: { transport: 'smtp' } });
    expect(JSON.stringify(receipt)).not.toContain(token);
  });

  it('mails the same address three times an hour, and says nothing of it', async () => {
    const account = await desk.account();
    desk.test.clock.stopAtMinute();
    const answers = await Promise.all(Array.from({ length: 10 }, () => desk.forgotten(account.email)));
    expect(new Set(answers.map(told)).size).toBe(1);
    await mailed();
    expect((await desk.mailsTo(account.email)).length).toBeLessThanOrEqual(3);
    const rows = await desk.test.rows('select 1 from password_resets where email = $1', [account.email]);
    expect(rows).toHaveLength(3);
    desk.test.clock.advance(60 * MINUTE_MS);
    await desk.resetToken(account);
  });

  it('finds the account however the address is written', async () => {
    const account = await desk.account();
    await desk.forgotten(account.email.toUpperCase());
    expect(await desk.mails(account.email, 1)).toHaveLength(1);
  });
});

describe('POST /api/admin/password/forgotten 422', () => {
  it.each([
    [{}, 'email'],
    [{ email: 'nobody' }, 'email'],
    [{ email: 7 }, 'email'],
    [{ email: ['a@example.com'] }, 'email'],
    [{ email: `${'a'.repeat(250)}@example.com` }, 'email'],
    [{ email: 'a@example.com\nBcc: b@example.com' }, 'email'],
    [{ email: 'a@example.com', more: 1 }, 'more'],
  ])('for %j', async (body, path) => {
    const answer = await desk.anyone.post('/api/admin/password/forgotten', body);
    expect([answer.status, answer.body.error.details[0].path]).toEqual([422, path]);
  });
});

describe('POST /api/admin/password/reset 200', () => {
  it('sets the password and ends all sessions of the account, with a receipt in each workspace and a mail', async () => {
    const account = await desk.account();
    const other = await desk.join(account);
    const browser = await desk.browser(account);
    const answer = await desk.reset(await desk.resetToken(account));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(await desk.openSessions(account)).toEqual([]);
    desk.test.clock.advance(1000);
    expect(outcome(await browser.get('/session'))).toBe('401 ended_session');
    expect(outcome(await desk.signIn(account))).toBe('401 invalid_credentials');
    expect((await desk.signIn(account, { password: ANOTHER })).status).toBe(201);
    for (const { workspaceId, memberId } of [{ ...account, workspaceId: desk.workspaceId }, other]) {
      const receipt = await desk.receipt(workspaceId, 'password.reset', memberId);
      expect(receipt).toMatchObject({
        actor: { type: 'member', id: memberId, via: 'link' },
        details: { endedSessions: 1 },
      });
      expect(JSON.stringify(receipt)).not.toContain(ANOTHER);
    }
    const mails = await desk.mails(account.email, 2);
    expect(mails.at(-1)!.subject).toBe('Your password was changed (Consigliere)');
    expect(mails.at(-1)!.text).toContain('by a link that was mailed to this address');
  });

  it('works for an account that no workspace has as a member any more, which is then invited again', async () => {
    const account = await desk.account();
    await desk.test.rows(`update members set status = 'removed' where member_id = $1`, [account.memberId]);
    expect((await desk.reset(await desk.resetToken(account))).status).toBe(200);
    expect(outcome(await desk.signIn(account, { password: ANOTHER }))).toBe('401 invalid_credentials');
  });

  it('does not stand in for the second factor', async () => {
    const account = await desk.account();
    desk.test.clock.stopAtMinute();
    const { secret } = await desk.setUpSecondFactor(await desk.browser(account));
    expect((await desk.reset(await desk.resetToken(account))).status).toBe(200);
    expect(outcome(await desk.signIn(account, { password: ANOTHER }))).toBe('401 second_factor_required');
    desk.test.clock.advance(30_000);
    const code = desk.code(secret);
    expect((await desk.signIn(account, { password: ANOTHER, code })).body.secondFactor).toBe(true);
  });

  it('sets one of 100 at a time', async () => {
    const account = await desk.account();
    const token = await desk.resetToken(account);
    const answers = await Promise.all(
      addresses(100).map((address, n) =>
        desk.anyone.post(
          '/api/admin/password/reset',
          { token, newPassword: `${ANOTHER} ${n}` },
          { 'X-Forwarded-For': address },
        ),
      ),
    );
    expect(counted(answers)).toEqual({ 200: 1, '410 reset_link_expired': 99 });
    const won = answers.findIndex(({ status }) => status === 200);
    expect((await desk.signIn(account, { password: `${ANOTHER} ${won}` })).status).toBe(201);
    await mailed();
    const receipts = await desk.receipts(desk.workspaceId, 'password.reset');
    expect(receipts.filter(({ entity }) => entity.id === account.memberId)).toHaveLength(1);
  }, 180_000);
});

describe('POST /api/admin/password/reset 404, 410 and 422', () => {
  const refused = async (account: TestAccount, answer: Promise<any>) => {
    const before = await desk.passwordHash(account);
    const said = outcome(await answer);
    expect(await desk.passwordHash(account)).toBe(before);
    return said;
  };

  it('once it was used, and after thirty minutes, and not one millisecond before', async () => {
    const account = await desk.account();
    desk.test.clock.stopAtMinute();
    const token = await desk.resetToken(account);
    desk.test.clock.advance(30 * MINUTE_MS);
    expect(await refused(account, desk.reset(token))).toBe('410 reset_link_expired');
    desk.test.clock.advance(-1);
    expect((await desk.reset(token)).status).toBe(200);
    expect(await refused(account, desk.reset(token, PASSWORD))).toBe('410 reset_link_expired');
  });

  it('once a newer one was asked for, or the password was changed', async () => {
    const account = await desk.account();
    const [first, second] = [await desk.resetToken(account), await desk.resetToken(account)];
    expect(await refused(account, desk.reset(first))).toBe('410 reset_link_expired');
    const browser = await desk.browser(account);
    const change = { currentPassword: PASSWORD, newPassword: `${ANOTHER} and back` };
    expect((await browser.put('/password', change)).status).toBe(200);
    expect(await refused(account, desk.reset(second))).toBe('410 reset_link_expired');
  });

  it.each(['x', 'a'.repeat(43), '../../session', '\u{1f98a}'])(
    '404 for a token that is none: %s',
    async (token) => {
      expect(outcome(await desk.reset(token))).toBe('404 not_found');
    },
  );

  it('422 for a poor password, after which the link still works', async () => {
    const account = await desk.account();
    const token = await desk.resetToken(account);
    for (const poor of [
      'short',
      'Password123!',
      'aaaaaaaaaaaa',
      `${account.email}1`,
      PASSWORD,
      7,
      null,
      '🦊🐻🐼🐨🐯',
    ]) {
      const before = await desk.passwordHash(account);
      const answer = await desk.reset(token, poor);
      expect([answer.status, answer.body.error.details[0].path], String(poor)).toEqual([422, 'newPassword']);
      expect(await desk.passwordHash(account)).toBe(before);
    }
    expect((await desk.reset(token)).status).toBe(200);
  });
});

describe('GET and POST /password/{token}', () => {
  it('shows a form that nobody else learns of, and changes nothing', async () => {
    const account = await desk.account();
    const token = await desk.resetToken(account);
    const before = await desk.passwordHash(account);
    for (let n = 0; n < 3; n++) {
      const { status, headers, text } = await page(token);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.get('referrer-policy')).toBe('strict-origin');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toContain(`default-src 'none'`);
      expect(text).toContain('type="password" autocomplete="new-password"');
      expect(text).toContain(account.email);
      expect(text).not.toContain(token);
      expect(text).not.toMatch(/<script|https?:/);
    }
    expect(await desk.passwordHash(account)).toBe(before);
  });

  it('sets the password by the form, once', async () => {
    const account = await desk.account();
    const token = await desk.resetToken(account);
    const poor = await page(token, { newPassword: 'Password123!' });
    expect(poor.status).toBe(422);
    expect(poor.text).toContain(
      '<p class="warning">The new password is one of the passwords that are tried first',
    );
    expect((await page(token, {})).status).toBe(422);
    const done = await page(token, { newPassword: ANOTHER });
    expect([done.status, done.text.includes('Your password is set')]).toEqual([200, true]);
    const again = await page(token, { newPassword: `${ANOTHER}!` });
    expect(again.status).toBe(410);
    expect(again.text).toContain('No password can be set here');
    expect((await page('a'.repeat(43))).status).toBe(404);
    expect((await desk.signIn(account, { password: ANOTHER })).status).toBe(201);
  });
});

describe('POST /password/{token} 403', () => {
  it.each<[string, Record<string, string>]>([
    ['of another site', { Origin: 'https://evil.example' }],
    ['that hides its origin', { Origin: 'null' }],
    ['elsewhere, which the browser names', { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }],
  ])('sets no password for a page %s', async (_what, headers) => {
    const account = await desk.account();
    const before = await desk.passwordHash(account);
    const token = await desk.resetToken(account);
    const refused = await page(token, { newPassword: ANOTHER }, undefined, headers);
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('another site')]);
    expect(await desk.passwordHash(account)).toBe(before);
  });
});

describe('a link that cannot be mailed', () => {
  it('because the mail server refuses the address: a receipt says so, and the token is forgotten', async () => {
    const account = await desk.account();
    const email = `refused-${account.email}`;
    await desk.test.rows('update users set email = $2 where user_id = $1', [account.userId, email]);
    expect((await desk.forgotten(email)).status).toBe(202);
    const receipt = await desk.receipt(desk.workspaceId, 'password.reset_mail_failed', account.memberId);
    expect(receipt).toMatchObject({ outcome: 'failure', details: { error: { code: 'MAIL_REFUSED' } } });
    const rows = await desk.test.rows('select sealed_token from password_resets where email = $1', [email]);
    expect(rows).toEqual([{ sealed_token: null }]);
  });

  it('because it cannot be decrypted: a receipt says so, and it is not tried again', async () => {
    const { email, memberId } = await desk.account();
    const resetId = 'rst_01kerpxzkz8m1c3v5b7n9q2w4e';
    await desk.test.rows(
      `with asked as (insert into password_resets (reset_id, email, token_hash, sealed_token, requested_at, expires_at)
         values ($1, $2, $1, 'x', now(), now() + interval '30 minutes'))
       insert into work_items (kind, id, workspace_id, queue, due_at) values ('password.mail', $1, '', 'accounts', now())`,
      [resetId, email],
    );
    const receipt = await desk.receipt(desk.workspaceId, 'password.reset_mail_failed', memberId);
    expect(receipt).toMatchObject({ outcome: 'failure', details: { error: { code: 'SECRET_UNREADABLE' } } });
    await mailed();
  });
});
