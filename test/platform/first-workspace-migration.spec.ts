import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { expect, inject, it } from 'vitest';
import { allMigrations } from '../../src/platform/database/migrations.js';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';

it('the oldest of the workspaces that there are is the first afterwards, whoever owns the database', async () => {
  const name = `first_${randomBytes(4).toString('hex')}`;
  const server = new pg.Client({ connectionString: inject('serverUrl') });
  await server.connect();
  await server.query(`create role ${name} login createrole nosuperuser nobypassrls password 'word'`);
  await server.query(`grant consigliere_app, consigliere_system to ${name} with admin option`);
  await server.query(`create database ${name} owner ${name}`);
  const url = new URL(inject('serverUrl'));
  url.pathname = `/${name}`;
  const administrator = new pg.Client({ connectionString: url.href });
  Object.assign(url, { username: name, password: 'word' });
  try {
    const before = (await allMigrations()).filter(
      (migration) => Number(migration.name.slice(-13)) < 1763900000070,
    );
    const owner = await new DataSource({
      type: 'postgres',
      url: url.href,
      installExtensions: false,
      migrations: before,
      migrationsTableName: 'migrations',
    }).initialize();
    await owner.runMigrations({ transaction: 'each' });
    await owner.destroy();
    await administrator.connect();
    for (const [workspaceId, hours] of Object.entries({ wks_1: 0, wks_2: 24, wks_3: 1 })) {
      // The chain of a workspace begins under row-level security.
      await administrator.query(`select set_config('app.workspace_id', $1, false)`, [workspaceId]);
      await administrator.query(
        `insert into workspaces (workspace_id, name, tier, created_at) values ($1, $1, 'pro', now() - $2 * interval '1 hour')`,
        [workspaceId, hours],
      );
    }

    await prepareDatabase(url.href);

    const { rows } = await administrator.query(
      'select workspace_id, app.first_workspace() as first from workspaces where is_first',
    );
    expect(rows).toEqual([{ workspace_id: 'wks_2', first: 'wks_2' }]);
  } finally {
    await administrator.end();
    await server.query(`drop database ${name} with (force)`);
    await server.query(`drop role ${name}`);
    await server.end();
  }
}, 60_000);
