import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Every function of the database that works with its owner's rights, those of later migrations included. */
const DEFINERS = /* sql */ `
select oid::regprocedure::text as name from pg_proc p
where prosecdef and pronamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`;

it('lets nobody but the roles that need it call a function that works with its owner’s rights', async () => {
  const { rows } = await database.owner.query<{ name: string }>(
    `${DEFINERS} and exists (
       select from aclexplode(coalesce(proacl, acldefault('f', proowner))) where grantee = 0)`,
  );
  expect(rows).toEqual([]);
  expect((await database.owner.query(DEFINERS)).rowCount).toBeGreaterThan(70);
});

it('lets no function that works with its owner’s rights find a table in a schema of the caller’s', async () => {
  const { rows } = await database.owner.query(
    `${DEFINERS} and not coalesce(proconfig::text like '%search_path=%pg_temp%', false)`,
  );
  expect(rows).toEqual([]);
});

it('lets nobody but the owner of the database make temporary tables in it, from the next start on', async () => {
  const mayMake = async (role: string) => {
    const { rows } = await database.owner.query<{ may: boolean }>(
      `select has_database_privilege($1, current_database(), 'temporary') as may`,
      [role],
    );
    return rows[0]!.may;
  };
  // A clone of a database, and a restored one, has the rights of a new one.
  expect(await mayMake('consigliere_app')).toBe(true);
  await prepareDatabase(database.url);
  expect([await mayMake('public'), await mayMake('consigliere_app')]).toEqual([false, false]);
});
