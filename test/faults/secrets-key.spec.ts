import { createHmac, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { ServiceProcess } from '../support/processes.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const LONG = { timeout: 60_000 };
const newKey = () => randomBytes(32).toString('base64');

describe('the program, started with another SECRETS_KEY than the first time', () => {
  let database: TestDatabase;
  let environment: Record<string, string>;
  beforeEach(async () => {
    database = await createTestDatabase();
    environment = {
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      PORT: '0',
      BOOTSTRAP_TOKEN: newOperatorToken(),
      // Neither signs checkpoints nor sends anything: what it compares must be there from the first start on.
      PROCESS_ROLE: 'api',
    };
  });
  afterEach(() => database.drop());

  /** Whether the server has the role that the program logs in as under this key; other tests make roles of their own. */
  async function hasRole(key: string): Promise<boolean> {
    const name = new URL(database.url).pathname.slice(1);
    const digest = createHmac('sha256', Buffer.from(key, 'base64'))
      .update(`database login name\n${name}`)
      .digest('hex');
    const { rowCount } = await database.owner.query('select from pg_roles where rolname = $1', [
      `consigliere_login_${digest.slice(0, 16)}`,
    ]);
    return rowCount === 1;
  }

  it('says in one sentence what to do, and makes no second role in the database', LONG, async () => {
    const first = { ...environment, SECRETS_KEY: newKey() };
    expect(await (await ServiceProcess.start(first)).stop()).toBe(0);
    const other = newKey();
    const refused = await ServiceProcess.start({ ...environment, SECRETS_KEY: other }).catch(String);
    expect(refused).toMatch(
      /\nSECRETS_KEY cannot decrypt the secrets in this database. Start with the SECRETS_KEY .*\n/,
    );
    expect(refused).not.toMatch(/\bat .*\.js:|ready at/);
    expect([await hasRole(first.SECRETS_KEY), await hasRole(other)]).toEqual([true, false]);
    expect(await (await ServiceProcess.start(first)).stop()).toBe(0);
  });

  it('starts although somebody put keys of their own beside the first', LONG, async () => {
    const first = { ...environment, SECRETS_KEY: newKey() };
    expect(await (await ServiceProcess.start(first)).stop()).toBe(0);
    await database.owner.query(`insert into signing_keys values ('key', 'x', 'x', '-infinity')`);
    expect(await (await ServiceProcess.start(first)).stop()).toBe(0);
  });
});
