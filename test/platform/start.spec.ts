import { randomBytes } from 'node:crypto';
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

  const roles = async () =>
    (
      await database.owner.query<{ name: string }>(
        `select rolname as name from pg_roles where rolname like 'consigliere_login_%' order by 1`,
      )
    ).rows;

  it('says in one sentence what to do, and makes no second role in the database', LONG, async () => {
    const first = { ...environment, SECRETS_KEY: newKey() };
    expect(await (await ServiceProcess.start(first)).stop()).toBe(0);
    const before = await roles();
    const refused = await ServiceProcess.start({ ...environment, SECRETS_KEY: newKey() }).catch(String);
    expect(refused).toMatch(
      /\nSECRETS_KEY cannot decrypt the secrets in this database. Start with the SECRETS_KEY .*\n/,
    );
    expect(refused).not.toMatch(/\bat .*\.js:|ready at/);
    expect(await roles()).toEqual(before);
    expect(await (await ServiceProcess.start(first)).stop()).toBe(0);
  });

  it('starts although somebody put keys of their own beside the first', LONG, async () => {
    const first = { ...environment, SECRETS_KEY: newKey() };
    expect(await (await ServiceProcess.start(first)).stop()).toBe(0);
    await database.owner.query(`insert into signing_keys values ('key', 'x', 'x', '-infinity')`);
    expect(await (await ServiceProcess.start(first)).stop()).toBe(0);
  });
});

describe('the program, started with a setting that cannot be used', () => {
  it('names it without a stack', async () => {
    const refused = await ServiceProcess.start({ PORT: 'x' }).catch(String);
    expect(refused).toMatch(/invalid configuration\n {2}PORT must be a whole number/);
    expect(refused).not.toMatch(/\bat .*\.js:/);
  });
});
