import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { expect, inject, it } from 'vitest';
import { allMigrations } from '../../src/platform/database/migrations.js';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';

/** As a version left it that named the connectors of destinations by their hosts. */
const ROWS = `
  select set_config('app.workspace_id', 'wks_1', false);
  insert into workspaces (workspace_id, name, tier) values ('wks_1', 'One', 'pro');
  insert into webhook_destinations (destination_id, workspace_id, description, url, events, status, api_version,
    sealed_secret, created_by, created_at)
  values ('whk_1', 'wks_1', 'ERP of Acme', 'https://eo1x2.example/', '{report.daily}', 'active', '2026-04', 's', '{}', now()),
    ('whk_2', 'wks_1', '', 'https://eo1x3.example/', '{report.daily}', 'active', '2026-04', 's', '{}', now());
  insert into connectors (workspace_id, connector_id, kind, subject, name, reason, next_check_at)
  values ('wks_1', 'con_1', 'webhook', 'whk_1', 'eo1x2.example', 'It has not been checked yet.', now()),
    ('wks_1', 'con_2', 'webhook', 'whk_2', 'eo1x3.example', 'It has not been checked yet.', now()),
    ('wks_1', 'con_3', 'http', 'crm', 'crm', 'It has not been checked yet.', now())`;

it('connectors of destinations have no host in their names afterwards, whoever owns the database', async () => {
  const name = `named_${randomBytes(4).toString('hex')}`;
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
      (migration) => Number(migration.name.slice(-13)) < 1765000000110,
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
    await administrator.query(ROWS);

    await prepareDatabase(url.href);

    const { rows } = await administrator.query('select name from connectors order by connector_id');
    expect(rows).toEqual([{ name: 'ERP of Acme' }, { name: 'Webhook destination whk_2' }, { name: 'crm' }]);
  } finally {
    await administrator.end();
    await server.query(`drop database ${name} with (force)`);
    await server.query(`drop role ${name}`);
    await server.end();
  }
}, 60_000);
