import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newSessionSecret } from '../../src/platform/auth/session-cookie.js';
import { RouteTable } from '../../src/platform/http/route-table.js';
import { sha256 } from '../../src/platform/kernel/canonical-json.js';
import { TeamDesk } from '../e2e/teams/team-desk.js';
import { AdminClient, Client } from '../support/client.js';
import { type Answer, eventually, startTestApp, type TestApp } from '../support/test-app.js';

/** What docs/security/asvs.md promises and no other test shows, by the numbers of OWASP ASVS 5.0. */
const ACCESS = join(import.meta.dirname, '../../docs/security/access.md');
const DAY_MS = 86_400_000;
/** Passwords are hashed by processes that give way to all others, and an application takes a while to start. */
const SLOW = { timeout: 60_000 };

let test: TestApp;
let desk: TeamDesk;
beforeAll(async () => {
  test = await startTestApp();
  desk = await TeamDesk.open(test);
});
afterAll(() => test.close());

let accounts = 0;

/** Accepts an invite with this password; answers the address of the new account. */
async function register(password: string): Promise<string> {
  const email = `person${++accounts}@example.com`;
  const { inviteId } = await desk.invite(email);
  const accepted = await desk.accept(await desk.token(inviteId), { password });
  expect(accepted.status, accepted.text).toBe(201);
  return email;
}

/** Signs in from an address that has failed nowhere. */
const session = (email: string, password: string) =>
  new Client(test.url, undefined).post('/api/admin/session', { email, password });

async function signIn(email: string, password: string): Promise<number> {
  return (await session(email, password)).status;
}

/** The token of the link for a new password that is mailed to this address. */
async function resetToken(email: string): Promise<string> {
  await new Client(test.url, undefined).post('/api/admin/password/forgotten', { email });
  const outbox = join(test.dataDir, 'outbox');
  const found = await eventually(async () => {
    for (const file of await readdir(outbox)) {
      const { to, text } = await PostalMime.parse(await readFile(join(outbox, file)));
      const token = /\/password\/([\w-]{43})/.exec(text ?? '')?.[1];
      if (token && to?.some(({ address }) => address === email)) return token;
    }
    return undefined;
  });
  return found!;
}

describe('V6 authentication', () => {
  const PASSWORD = 'nineteen pears on a slow train';
  it.each<[string, () => Promise<(password: string) => Promise<Answer>>]>([
    [
      'an invite',
      async () => {
        const { inviteId } = await desk.invite(`person${++accounts}@example.com`);
        const token = await desk.token(inviteId);
        return (password) => desk.accept(token, { password });
      },
    ],
    [
      'a change',
      async () => {
        const { headers } = await session(await register(PASSWORD), PASSWORD);
        const secret = /^consigliere_session=([^;]+);/.exec(headers.get('set-cookie')!)![1]!;
        const client = new AdminClient(test.url, secret);
        return (newPassword) => client.put('/password', { currentPassword: PASSWORD, newPassword });
      },
    ],
    [
      'a mailed link',
      async () => {
        const token = await resetToken(await register(PASSWORD));
        return (newPassword) =>
          new Client(test.url, undefined).post('/api/admin/password/reset', { token, newPassword });
      },
    ],
  ])('6.2.4 a common password is refused at %s', SLOW, async (_where, begin) => {
    const choose = await begin();
    for (const password of ['0987654321', 'qwertzuiop', 'Password123!', 'MANCHESTER', '  gunsnroses']) {
      const { status, body } = await choose(password);
      expect([status, body.error?.details?.[0]?.rule], password).toEqual([422, 'isHardToGuess']);
    }
    expect([200, 201]).toContain((await choose('eleven plums in a fast boat')).status);
  });

  it('6.2.4 a common password is refused at the first start', SLOW, async () => {
    await expect(startTestApp({ BOOTSTRAP_OWNER_PASSWORD: 'Password1234' })).rejects.toThrow(
      'BOOTSTRAP_OWNER_PASSWORD is one of the passwords that are tried first; choose another.',
    );
  });

  it.each([
    ['digits alone', '84719304712058'],
    ['lower case alone', 'xkqvplmzrtwo'],
    ['signs alone', '&%$§!?=)(/_+'],
    ['spaces between', 'a  b  c  d  e f'],
    ['another script', 'семь груш на окне'],
    ['emoji', '🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵'],
  ])('6.2.5 a password may be of any composition: %s', SLOW, async (_kind, password) => {
    expect(await signIn(await register(password), password)).toBe(201);
  });

  it(
    '6.2.8 and 6.2.9 a password of 200 characters with spaces and emoji opens as a whole, and not without its end, in another case or trimmed',
    SLOW,
    async () => {
      const long = ` Nineteen pears  ${'🍐 on A slow train, '.repeat(20)}`;
      const password = `${[...long].slice(0, 199).join('')} `;
      expect([...password]).toHaveLength(200);
      const email = await register(password);
      expect(await signIn(email, password)).toBe(201);
      const others = [
        password.slice(0, -1),
        password.slice(0, 72),
        password.slice(0, 128),
        password.trim(),
        password.toLowerCase(),
        password.replaceAll('  ', ' '),
        `${password} `,
      ];
      for (const other of new Set(others)) {
        if (other !== password) expect(await signIn(email, other), JSON.stringify(other)).toBe(401);
      }
    },
  );

  it('6.2.10 a password still opens after three years', SLOW, async () => {
    const email = await register(PASSWORD);
    test.clock.stop(Date.now() + 3 * 365 * DAY_MS);
    expect(await signIn(email, PASSWORD)).toBe(201);
    test.clock.goOn();
  });

  it.each([
    [
      'an invite',
      async () => {
        const { inviteId } = await desk.invite(`person${++accounts}@example.com`);
        return `/invites/${await desk.token(inviteId)}`;
      },
    ],
    ['a mailed link', async () => `/password/${await resetToken(await register(PASSWORD))}`],
  ])(
    '6.2.6 and 6.2.7 the page of %s masks the password, and gets in no password manager’s way',
    SLOW,
    async (_what, path) => {
      const page = await fetch(test.url + (await path()));
      expect(page.status).toBe(200);
      const html = await page.text();
      const [field, ...more] = [...html.matchAll(/<input[^>]*password[^>]*>/gi)].map(([input]) => input);
      expect(more).toEqual([]);
      expect(field).toContain('type="password"');
      expect(field).toContain('autocomplete="new-password"');
      // Nothing could watch for a paste: there is no script, and none would run.
      expect(html).not.toMatch(/<script|\son\w+=|autocomplete="off"/i);
      expect(page.headers.get('content-security-policy')).toContain(`default-src 'none'`);
    },
  );

  it(
    '6.3.2 each installation begins with one account, whose password and token are its own',
    SLOW,
    async () => {
      const address = 'ada@northwind.example';
      const fresh = await Promise.all(
        [1, 2].map(() => startTestApp({ BOOTSTRAP_TOKEN: '', BOOTSTRAP_OWNER_EMAIL: address })),
      );
      try {
        const kept = [];
        for (const { dataDir, rows, url } of fresh) {
          const file = join(dataDir, 'credentials.json');
          expect((await stat(file)).mode & 0o777).toBe(0o600);
          const { token, password, email } = JSON.parse(await readFile(file, 'utf8')) as Record<
            string,
            string
          >;
          expect(await rows('select email from users')).toEqual([{ email: address }]);
          expect(await rows('select token_hash from tokens')).toEqual([{ token_hash: sha256(token!) }]);
          expect(email).toBe(address);
          // 96 bits in base64url.
          expect(password).toMatch(/^[\w-]{16,}$/);
          for (const guess of [
            'password',
            'changeme',
            'admin',
            'consigliere',
            'Consigliere1!',
            address,
            '',
          ]) {
            const tried = await new Client(url, undefined).post('/api/admin/session', {
              email,
              password: guess,
            });
            expect([401, 422], guess).toContain(tried.status);
          }
          for (const name of ['admin', 'root', 'sa', 'owner@example.com', 'admin@example.com']) {
            const tried = await new Client(url, undefined).post('/api/admin/session', {
              email: name,
              password,
            });
            expect([401, 422], name).toContain(tried.status);
          }
          kept.push(token, password);
        }
        expect(new Set(kept).size).toBe(4);
      } finally {
        await Promise.all(fresh.map((one) => one.close()));
      }
    },
  );

  it('6.3.4 nothing answers a stranger but the routes that docs/security/access.md names', async () => {
    const [, listed] = /^```routes\n([^]*?)^```$/m.exec(await readFile(ACCESS, 'utf8'))!;
    const open = test.app
      .get(RouteTable)
      .entries.filter(({ policy }) => policy.auth !== 'member')
      .flatMap(({ method, paths }) => paths.map((path) => `${method} ${path}`));
    expect(open.toSorted()).toEqual(listed!.trim().split('\n').toSorted());
  });

  it('6.4.2 an account has no hint and no question', async () => {
    const columns = await test.rows<{ name: string }>(
      `select column_name as name from information_schema.columns where table_schema = 'public' and table_name = 'users'`,
    );
    expect(columns.map(({ name }) => name).toSorted()).toEqual([
      'created_at',
      'display_name',
      'email',
      'password_hash',
      'user_id',
    ]);
  });
});

describe('V7 sessions', () => {
  it.each([
    ['another secret', () => newSessionSecret(), 'invalid_session'],
    ['no secret', () => '', 'missing_session'],
    ['what the database keeps of one', (secret: string) => sha256(secret), 'invalid_session'],
    [
      'one with another end',
      (secret: string) => `${secret.slice(0, -1)}${secret.endsWith('A') ? 'E' : 'A'}`,
      'invalid_session',
    ],
    ['one with claims', (secret: string) => `${secret}.eyJyb2xlIjoib3duZXIifQ`, 'invalid_session'],
  ])('7.2.1 a cookie opens only what the server knows: %s', async (_what, forged, reason) => {
    const { secret } = await test.signIn(desk.owner.memberId);
    expect((await new AdminClient(test.url, secret).get('/session')).status).toBe(200);
    const answer = await new AdminClient(test.url, forged(secret)).get('/session');
    expect([answer.status, answer.body.reason]).toEqual([401, reason]);
  });

  it('7.2.3 the secret of a session has 256 random bits', () => {
    const secrets = Array.from({ length: 2000 }, newSessionSecret);
    expect(new Set(secrets).size).toBe(2000);
    const bytes = secrets.map((secret) => Buffer.from(secret, 'base64url'));
    expect(bytes.every(({ length }) => length === 32)).toBe(true);
    for (let bit = 0; bit < 256; bit++) {
      const ones = bytes.filter((one) => (one[bit >> 3]! >> (bit & 7)) & 1).length;
      // Of 2,000 throws of a coin between 800 and 1,200 are heads, but for once in 10^16.
      expect(Math.abs(ones - 1000), `bit ${bit}`).toBeLessThan(200);
    }
  });
});

describe('V8 authorization', () => {
  it('8.2.3 no change takes a property that it does not document', async () => {
    const admin = await test.signIn(desk.owner.memberId);
    const changes = test.app.get(RouteTable).entries.filter(
      // A message of MCP is held to its protocol, and the calls that it carries to their routes.
      ({ method, policy }) =>
        method !== 'GET' && policy.auth !== 'signature' && !policy.form && !policy.carries,
    );
    expect(changes.length).toBeGreaterThan(30);
    for (const { method, paths } of changes) {
      for (const path of paths) {
        const client = path.startsWith('/api/admin') ? admin : desk.owner;
        const asked = path.replace(/:role\b/, 'ceo').replace(/:[^/]+/g, 'none_00000000000000000000000000');
        const { status, body } = await client.send(method, asked, { isAdmin: true });
        const named = body.error?.details?.some(
          ({ path: name, rule }: { path: string; rule: string }) => name === 'isAdmin' || rule === 'noBody',
        );
        expect([status, named], `${method} ${path}`).toEqual([422, true]);
      }
    }
  });
});
