import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplication } from '../../src/application.js';
import { loadConfig } from '../../src/platform/config/config.js';
import { loginUrl } from '../../src/platform/database/login-role.js';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { eventually, startTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** The role that an address logs in as. */
const roleOf = (url: string) => new URL(url).searchParams.get('user')!;

/** One statement over a connection of its own; rejects as the server does. */
async function statement<T = Record<string, unknown>>(
  connectionString: string,
  text: string,
  options?: string,
): Promise<T[]> {
  const client = new pg.Client({ connectionString, ...(options && { options }) });
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
}

describe('the connections of a running program', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
    expect((await test.owner.post('/directive', { text: 'Write it down.' })).status).toBe(201);
  });
  afterAll(() => test.close());

  /** What a statement that was smuggled into a request could do. */
  const smuggled = (...texts: string[]) =>
    test.app.get(DataSource).transaction(async (manager) => {
      for (const text of texts) await manager.query(text);
    });

  it('belong to its login role, none to the owner', async () => {
    const connections = await eventually(
      () =>
        test.rows<{ name: string; login: string }>(
          `select distinct application_name as name, usename as login from pg_stat_activity
           where datname = current_database() and application_name like 'consigliere%' order by 1`,
        ),
      (rows) => rows.length >= 2,
    );
    const login = expect.stringMatching(/^consigliere_login_[0-9a-f]{16}$/);
    expect(connections).toEqual([
      { name: 'consigliere', login },
      { name: 'consigliere channel', login },
    ]);
  });

  it.each([
    ['read a table as nobody in particular', ['set role none', 'select workspace_id from workspaces']],
    ['call a function as nobody in particular', ['set role none', `select app.finish('{}')`]],
    ['become the owner', ['set role "<owner>"']],
    ['become the owner from its login', ['set role none', 'set role "<owner>"']],
    ['become the role that looks across workspaces', ['set role none', 'set role consigliere_system']],
    ['log in as the owner', ['set session authorization "<owner>"']],
    ['unlock itself', ['set role none', 'alter role current_user bypassrls']],
    ['make a role', ['set role none', 'create role intruder']],
    ['grant itself another', ['set role none', 'grant "<owner>" to current_user']],
    ['make a table', ['set role none', 'create table public.mine (x int)']],
  ])('cannot %s', async (_what, texts) => {
    const owner = new URL(test.database.url).username;
    await expect(smuggled(...texts.map((text) => text.replace('<owner>', owner)))).rejects.toMatchObject({
      driverError: { code: '42501' },
    });
  });

  it.each(['reset role', 'reset session authorization', 'discard all'])(
    'show no row of any workspace after: %s',
    async (text) => {
      const connection = test.app.get(DataSource).createQueryRunner();
      await connection.query(text);
      // The login has no right of its own.
      await expect(connection.query('select * from workspaces')).rejects.toMatchObject({
        driverError: { code: '42501' },
      });
      await connection.release();
      expect(await test.rows('select * from workspaces')).not.toEqual([]);
    },
  );
});

describe('the role that the program logs in as', () => {
  let database: TestDatabase;
  const key = randomBytes(32);
  let url: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    url = await loginUrl(database.url, key);
  });
  afterAll(() => database.drop());

  const rows = async (text: string, values: unknown[] = []) =>
    (await database.owner.query(text, values)).rows;
  const kept = async (role: string) =>
    (await rows('select rolpassword from pg_authid where rolname = $1', [role]))[0]?.rolpassword;

  it('may log in and become consigliere_app, and nothing else', async () => {
    expect(
      await rows(
        `select rolcanlogin, rolinherit, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication,
           (select count(*)::int from pg_class where relowner = r.oid) as owns,
           array(select roleid::regrole::text from pg_auth_members where member = r.oid) as member_of
         from pg_roles r where rolname = $1`,
        [roleOf(url)],
      ),
    ).toEqual([
      {
        rolcanlogin: true,
        rolinherit: false,
        rolsuper: false,
        rolbypassrls: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolreplication: false,
        owns: 0,
        member_of: ['consigliere_app'],
      },
    ]);
  });

  it('has a password that stands nowhere on the server', async () => {
    const password = new URL(url).searchParams.get('password')!;
    expect(password).toMatch(/^[\w-]{43}$/);
    expect(await kept(roleOf(url))).toMatch(/^SCRAM-SHA-256\$4096:/);
    const wrong = new URL(url);
    wrong.searchParams.set('password', `${password}x`);
    await expect(statement(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('is found again by every process with the same key, and not touched', async () => {
    const before = await kept(roleOf(url));
    const urls = await Promise.all(Array.from({ length: 10 }, () => loginUrl(database.url, key)));
    expect(new Set(urls)).toEqual(new Set([url]));
    expect(await kept(roleOf(url))).toBe(before);
  });

  it('is made once by processes that start together', async () => {
    const fresh = randomBytes(32);
    const urls = await Promise.all(Array.from({ length: 10 }, () => loginUrl(database.url, fresh)));
    expect(new Set(urls).size).toBe(1);
    for (const each of urls) expect(await statement(each, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('is another for another key and for another database of the server', async () => {
    const other = await createTestDatabase();
    const urls = [
      url,
      await loginUrl(database.url, randomBytes(32)),
      await loginUrl(other.url, key),
      await loginUrl(other.url, randomBytes(32)),
    ];
    expect(new Set(urls.map(roleOf)).size).toBe(4);
    expect(new Set(urls.map((each) => new URL(each).searchParams.get('password'))).size).toBe(4);
    for (const each of urls) expect(await statement(each, 'select 1 as one')).toEqual([{ one: 1 }]);
    await other.drop();
  });

  it.each([
    ['its password was changed', `alter role <role> password 'another'`],
    ['it has no password', 'alter role <role> password null'],
    ['it may not log in', 'alter role <role> nologin'],
    ['it may not become consigliere_app', 'revoke consigliere_app from <role>'],
    ['it is gone', 'drop role <role>'],
    ['the database is closed to the public', 'revoke connect on database <database> from public'],
  ])('is set right when %s', async (_what, text) => {
    const { database: name } = new pg.Client({ connectionString: database.url });
    await rows(text.replace('<role>', roleOf(url)).replace('<database>', name!));
    const asProgram = () => statement(url, 'select current_user as role', '-c role=consigliere_app');
    await expect(asProgram()).rejects.toMatchObject({ code: expect.stringMatching(/^(28P01|28000|42501)$/) });
    expect(await loginUrl(database.url, key)).toBe(url);
    expect(await asProgram()).toEqual([{ role: 'consigliere_app' }]);
    await rows(`grant connect on database ${name} to public`);
  });

  describe('under an owner that is no superuser', () => {
    const owned = async (attributes: string) => {
      const name = `owner_${randomBytes(4).toString('hex')}`;
      await rows(`create role ${name} login ${attributes} password 'pass word'`);
      await rows(`grant consigliere_app to ${name} with admin option`);
      const address = new URL(database.url);
      [address.username, address.password] = [name, 'pass word'];
      return address.href;
    };

    it('is made when that one may create roles', async () => {
      const made = await loginUrl(await owned('createrole'), randomBytes(32));
      expect(await statement(made, 'select current_user as role', '-c role=consigliere_app')).toEqual([
        { role: 'consigliere_app' },
      ]);
    });

    it('is asked for by name when that one may not', async () => {
      await expect(loginUrl(await owned('nocreaterole'), randomBytes(32))).rejects.toThrow(
        /^The user owner_\w+ of DATABASE_URL may not create roles, .* createrole;$/,
      );
    });
  });

  it('is needed by no address but its own: without a name, with parameters, in another writing', async () => {
    const { username, password, host, pathname } = new URL(database.url);
    for (const address of [
      `postgresql://${host}${pathname}?user=${username}&password=${password}&application_name=x`,
      `postgres://${username}:${password}@${host}${pathname}?options=-c%20statement_timeout%3D5000`,
    ]) {
      const login = await loginUrl(address, key);
      expect(await statement(login, 'select session_user as login')).toEqual([{ login: roleOf(url) }]);
      expect(login).not.toContain(password);
    }
  });
});

describe('the program refuses to start', () => {
  const SECRETS_KEY = randomBytes(32).toString('base64');

  it.each([
    ['skip row-level security', 'alter role <role> bypassrls', /its login, can bypass row-level security/],
    ['do anything', 'alter role <role> superuser', /its login, can bypass row-level security/],
    ['become the owner', 'grant <owner> to <role>', /the login can become .*/],
    [
      'look across workspaces',
      'grant consigliere_system to <role>',
      /the login can become consigliere_system/,
    ],
    ['read all data', 'grant pg_read_all_data to <role>', /the login can become pg_read_all_data/],
    ['have a table', 'create table own (x int); alter table own owner to <role>', /its login, owns tables/],
  ])('when its login could %s', async (_what, text, refusal) => {
    const database = await createTestDatabase();
    const config = loadConfig({
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      SECRETS_KEY,
      BOOTSTRAP_TOKEN: newOperatorToken(),
      LOG_LEVEL: 'silent',
    });
    const role = roleOf(await loginUrl(database.url, Buffer.from(SECRETS_KEY, 'base64')));
    const owner = new URL(database.url).username;
    await database.owner.query(text.replaceAll('<role>', role).replaceAll('<owner>', owner));
    const started = createApplication(config, database.url).then((app) => app.close());
    await expect(started).rejects.toThrow(refusal);
    await database.drop();
    await statement(database.url.replace(/\/t_\w+$/, '/postgres'), `drop role ${role}`);
  });
});
