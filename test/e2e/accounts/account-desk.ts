import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hashSync } from '@node-rs/argon2';
import { Secret, TOTP } from 'otpauth';
import PostalMime from 'postal-mime';
import type { Role } from '../../../src/platform/auth/caller.js';
import { AdminClient, type Answer, Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';

export const PASSWORD = 'correct horse battery staple';
export const ANOTHER = 'nineteen pears on a slow train';
export const MINUTE_MS = 60_000;

/** Cheap to verify: what is tested here is seldom how much work that is. */
export const HASH = hashSync(PASSWORD, { memoryCost: 64, timeCost: 1 });

/** Somebody with a password, who is a member of a workspace. */
export interface TestAccount {
  memberId: string;
  userId: string;
  email: string;
}

/** The application with a mail server, and what tests of accounts do again and again. */
export class AccountDesk {
  private constructor(
    readonly test: TestApp,
    readonly mail: MailServer,
    readonly workspaceId: string,
  ) {}

  static async open(environment: Record<string, string> = {}): Promise<AccountDesk> {
    const mail = await startMailServer({
      recipient: (address) =>
        address.startsWith('refused') ? { code: 550, text: 'no such person' } : undefined,
    });
    const test = await startTestApp({ SMTP_URL: mail.url, ...environment });
    const { workspaceId } = await test.createWorkspace();
    return new AccountDesk(test, mail, workspaceId);
  }

  async close(): Promise<void> {
    await this.test.close();
    await this.mail.close();
  }

  async account(role: Role = 'operator', workspaceId = this.workspaceId): Promise<TestAccount> {
    const { memberId } = await this.test.createMember(workspaceId, role);
    const [user] = await this.test.rows<{ user_id: string; email: string }>(
      `update users set password_hash = $2 where user_id = (select user_id from members where member_id = $1)
       returning user_id, email`,
      [memberId, HASH],
    );
    return { memberId, userId: user!.user_id, email: user!.email };
  }

  /** Makes the account an active member of one more workspace. */
  async join(
    { userId }: TestAccount,
    role: Role = 'viewer',
  ): Promise<{ workspaceId: string; memberId: string }> {
    const { workspaceId } = await this.test.createWorkspace();
    const memberId = `mem_${workspaceId.slice(4)}`;
    await this.test.rows(
      'insert into members (member_id, workspace_id, user_id, role) values ($1, $2, $3, $4)',
      [memberId, workspaceId, userId, role],
    );
    return { workspaceId, memberId };
  }

  /** From an address of its own unless one is given. */
  signIn(
    { email }: Pick<TestAccount, 'email'>,
    { password = PASSWORD, code, address }: { password?: string; code?: string; address?: string } = {},
  ): Promise<Answer> {
    const from: Record<string, string> = address === undefined ? {} : { 'X-Forwarded-For': address };
    return this.anyone.post(
      '/api/admin/session',
      { email, password, ...(code !== undefined && { code }) },
      from,
    );
  }

  /** So many addresses from which the account has been signed in to before: what others fail at does not slow them. */
  async knownAddresses({ email }: TestAccount, count: number): Promise<string[]> {
    const known = addresses(count);
    await this.test.rows(
      `insert into sign_in_tries (account, address, succeeded_at, tried_at)
       select encode(sha256($1::bytea), 'hex'), address, $3, $3 from unnest($2::text[]) address`,
      [email, known, new Date(this.test.clock.now())],
    );
    return known;
  }

  /** Signed in, as a browser is. */
  async browser(
    account: Pick<TestAccount, 'email'>,
    how: { password?: string; code?: string } = {},
  ): Promise<Browser> {
    const answer = await this.signIn(account, how);
    if (answer.status !== 201) throw new Error(answer.text);
    return new Browser(this.test.url, secretIn(answer)!);
  }

  get anyone(): Client {
    return new Client(this.test.url, undefined);
  }

  /** Mails to this address so far, as they came over the wire. */
  mailsTo(email: string) {
    return Promise.all(
      this.mail.received.filter(({ to }) => to.includes(email)).map(({ bytes }) => PostalMime.parse(bytes)),
    );
  }

  /** So many mails to this address, once they have come. */
  mails(email: string, count: number) {
    return eventually(
      () => this.mailsTo(email),
      (mails) => mails.length >= count,
    );
  }

  forgotten(email: string) {
    return this.anyone.post('/api/admin/password/forgotten', { email });
  }

  /** Asks for a link, and answers its token as it stands in the mail. */
  async resetToken({ email }: Pick<TestAccount, 'email'>): Promise<string> {
    const links = async () =>
      (await this.mailsTo(email)).flatMap(({ text }) => /\/password\/([\w-]{43})/.exec(text!)?.[1] ?? []);
    const before = await links();
    await this.forgotten(email);
    const now = await eventually(links, (all) => all.length > before.length);
    return now.at(-1)!;
  }

  reset(token: string, newPassword: unknown = ANOTHER) {
    return this.anyone.post('/api/admin/password/reset', { token, newPassword });
  }

  /** Sets up a second factor in a browser that is signed in; the clock of the test has to stand still. */
  async setUpSecondFactor(browser: AdminClient): Promise<{ secret: string; recoveryCodes: string[] }> {
    const begun = await browser.post('/second-factor', { password: PASSWORD });
    if (begun.status !== 201) throw new Error(begun.text);
    const { secret } = begun.body;
    const confirmed = await browser.post('/second-factor/confirm', { code: this.code(secret) });
    if (confirmed.status !== 201) throw new Error(confirmed.text);
    return { secret, recoveryCodes: confirmed.body.recoveryCodes };
  }

  /** What an authenticator shows, so many steps from now. */
  code(secret: string, steps = 0): string {
    return new TOTP({ secret: Secret.fromBase32(secret) }).generate({
      timestamp: this.test.clock.now() + steps * 30_000,
    });
  }

  /** The receipts of these actions in a workspace, as they were hashed. */
  async receipts(workspaceId: string, pattern: string): Promise<any[]> {
    const rows = await this.test.rows<{ body: string }>(
      'select body from receipts where workspace_id = $1 and action like $2 order by seq',
      [workspaceId, pattern],
    );
    return rows.map(({ body }) => JSON.parse(body));
  }

  /** The receipt of this action about a member, once it is there. */
  async receipt(workspaceId: string, action: string, memberId: string): Promise<any> {
    const [found] = await eventually(
      async () => (await this.receipts(workspaceId, action)).filter(({ entity }) => entity.id === memberId),
      (all) => all.length > 0,
    );
    return found;
  }

  /** The sessions of an account that are open. */
  openSessions({ userId }: TestAccount) {
    return this.test.rows<{ session_id: string }>(
      'select session_id from sessions where user_id = $1 and ended_at is null order by 1',
      [userId],
    );
  }

  async passwordHash({ userId }: TestAccount): Promise<string> {
    const [row] = await this.test.rows<{ password_hash: string }>(
      'select password_hash from users where user_id = $1',
      [userId],
    );
    return row!.password_hash;
  }
}

/** What the answer's `Set-Cookie` gives the browser. */
function secretIn({ headers }: Answer): string | undefined {
  return /^consigliere_session=([^;]+);/.exec(headers.get('set-cookie') ?? '')?.[1];
}

/** Keeps the cookie that an answer sets. */
export class Browser extends AdminClient {
  override async send<T = any>(...call: Parameters<AdminClient['send']>): Promise<Answer<T>> {
    const answer = await super.send<T>(...call);
    const secret = secretIn(answer);
    if (secret !== undefined) (this as { secret: string }).secret = secret;
    return answer;
  }
}

/** Status and reason, or code, of an answer. */
export function outcome({ status, body }: Answer): string {
  return status < 400 ? String(status) : `${status} ${body.reason}`;
}

/**
 * Begins `first`, which comes to wait for these rows, then `second`, until that waits too or is done, and lets go of the rows.
 * Answers what both answered.
 */
export async function overlapping<A, B>(
  test: TestApp,
  rows: { text: string; values: unknown[] },
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[A, B]> {
  const waiting = async () => {
    const [row] = await test.rows<{ n: number }>(
      `select count(distinct l.pid)::int as n from pg_locks l join pg_stat_activity a using (pid)
       where a.datname = current_database() and not l.granted`,
    );
    return row!.n;
  };
  const blocker = await test.database.owner.connect();
  try {
    await blocker.query('begin');
    await blocker.query(rows.text, rows.values);
    const begun = first();
    await eventually(waiting, (n) => n === 1);
    const overtaking = second();
    await Promise.race([overtaking, eventually(waiting, (n) => n === 2)]);
    await blocker.query('commit');
    return await Promise.all([begun, overtaking]);
  } finally {
    blocker.release();
  }
}

/** The head of the workspace's receipts, which every act locks last. */
export const headOf = (workspaceId: string) => ({
  text: 'select from receipt_heads where workspace_id = $1 for update',
  values: [workspaceId],
});

/** What `npm run recover -- --second-factor` says. */
export async function recoverSecondFactor(test: TestApp, ...argumentList: string[]): Promise<string> {
  const script = join(import.meta.dirname, '../../../dist/scripts/recover.js');
  const environment = { DATABASE_URL: test.database.url, DATA_DIR: test.dataDir };
  const run = promisify(execFile)(process.execPath, [script, '--second-factor', ...argumentList], {
    env: { PATH: process.env.PATH, ...environment },
  });
  return run.then(
    ({ stdout }) => stdout,
    ({ stderr }: { stderr: string }) => stderr,
  );
}

/** Everything but the number of the request. */
export function told({ body: { requestId: _requestId, ...rest } }: Answer): string {
  return JSON.stringify(rest);
}

/** How often each outcome came. */
export function counted(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) counts[outcome(answer)] = (counts[outcome(answer)] ?? 0) + 1;
  return counts;
}

/** Addresses of their own, each counted apart. */
export function addresses(count: number, block = 100): string[] {
  return Array.from({ length: count }, (_, n) => `10.${block}.${n >> 8}.${n & 255}`);
}
