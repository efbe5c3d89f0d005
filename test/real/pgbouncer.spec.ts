import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { Client } from '../support/client.js';
import { hasPgbouncer, type Pgbouncer, startPgbouncer } from '../support/pgbouncer.js';
import { ServiceProcess } from '../support/processes.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

if (!hasPgbouncer)
  console.warn('skipped: nothing is tried with pgbouncer, since it is not installed on this machine');

describe.skipIf(!hasPgbouncer)('the program behind pgbouncer', () => {
  let database: TestDatabase;
  let folder: string;
  let pooler: Pgbouncer | undefined;
  const token = newOperatorToken();
  const SECRETS_KEY = randomBytes(32).toString('base64');
  beforeEach(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'consigliere-pooled-'));
  });
  afterEach(async () => {
    await pooler?.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const start = (url: string) =>
    ServiceProcess.start({
      NODE_ENV: 'test',
      DATABASE_URL: url,
      DATA_DIR: folder,
      SECRETS_KEY,
      PORT: '0',
      BOOTSTRAP_TOKEN: token,
    });

  /** What the start says when it is refused: one sentence, and no stack. */
  async function refusal(url: string): Promise<string> {
    const said = await start(url).then(
      () => 'it started',
      (error: unknown) => String(error),
    );
    expect(said).toContain('the program did not get ready');
    expect(said).not.toMatch(/\n {4}at /);
    return said.split('\n')[1]!;
  }

  it.each([
    ['with its defaults, which refuse the startup parameter options', {}],
    ['that drops the startup parameter options', { ignore_startup_parameters: 'options' }],
  ])('works in session mode %s', async (_, settings) => {
    pooler = await startPgbouncer(database.url, settings);
    const [first, second] = [await start(pooler.url), await start(pooler.url)];
    try {
      const { status, body } = await new Client(first.url, token).post('/directive', {
        text: 'Write a note that says "The pooler works."',
      });
      expect(status).toBe(201);
      const { rows } = await database.owner.query('select from directives where directive_id = $1', [
        body.directiveId,
      ]);
      expect(rows).toHaveLength(1);
      // Every session of the two works as the application's role or waits for messages.
      const sessions = await database.owner.query<{ name: string; own: boolean }>(
        `select application_name as name, bool_and(usename like 'consigliere_login_%') as own from pg_stat_activity
         where datname = current_database() and application_name in ('consigliere', 'consigliere channel') group by 1 order by 1`,
      );
      expect(sessions.rows).toEqual([
        { name: 'consigliere', own: true },
        { name: 'consigliere channel', own: true },
      ]);
      expect([first.errors, second.errors]).toEqual(['', '']);
    } finally {
      await Promise.all([first.kill(), second.kill()]);
    }
  });

  it('is refused in transaction mode, and leaves no lock that a later start waits for', async () => {
    pooler = await startPgbouncer(database.url, {
      pool_mode: 'transaction',
      ignore_startup_parameters: 'options',
    });
    const at = new URL(pooler.url).host;
    expect(await refusal(pooler.url)).toBe(
      `A connection pooler answers at ${at} and gives each transaction another session of PostgreSQL (in pgbouncer: pool_mode = transaction). Consigliere needs sessions: set pool_mode = session for its database, or let DATABASE_URL lead to PostgreSQL itself (docs/guides/running.md).`,
    );
    const { rows } = await database.owner.query(
      `select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
    );
    expect(rows).toEqual([]);
    await (await start(database.url)).kill();
  });

  it.each<[name: string, settings: Record<string, string>, query: string, sentence: RegExp]>([
    [
      'gives each statement another session',
      { pool_mode: 'statement' },
      '',
      /^The connection pooler at \S+ refuses .*pool_mode = session/,
    ],
    [
      'has a single session',
      { default_pool_size: '1' },
      '',
      /^PostgreSQL at \S+ accepts connections but .*a process needs 12/,
    ],
    [
      'does not look users up',
      { auth_user: '' },
      '',
      /^PostgreSQL does not let the service log in as the role consigliere_login_.*auth_query/,
    ],
    [
      'refuses a startup parameter of the address',
      {},
      '?options=-c%20jit%3Doff',
      /^The connection pooler at \S+ refuses .*Remove options from DATABASE_URL/,
    ],
    [
      'has no such database',
      { auth_user: '' },
      '/nowhere',
      /^The connection pooler at \S+ refuses|^PostgreSQL at \S+ has no database/,
    ],
  ])('names a pooler that %s', async (_, settings, more, sentence) => {
    pooler = await startPgbouncer(database.url, settings);
    const url = more.startsWith('/')
      ? Object.assign(new URL(pooler.url), { pathname: more }).href
      : pooler.url + more;
    expect(await refusal(url)).toMatch(sentence);
  });
});
