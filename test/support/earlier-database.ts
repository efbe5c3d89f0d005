import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { inject } from 'vitest';
import { allMigrations } from '../../src/platform/database/prepare-database.js';

/** A database as an earlier version left it, owned by a role that is no superuser: what an upgrade finds. */
export interface EarlierDatabase {
  /** The owner's connection string. */
  url: string;
  /** Past row-level security, and past the owner. */
  administrator: pg.Client;
  drop(): Promise<void>;
}

/** Makes one with every migration before this timestamp. */
export async function createEarlierDatabase(before: number): Promise<EarlierDatabase> {
  const name = `earlier_${randomBytes(4).toString('hex')}`;
  const server = new pg.Client({ connectionString: inject('serverUrl') });
  await server.connect();
  await server.query(`create role ${name} login createrole nosuperuser nobypassrls password 'word'`);
  await server.query(`grant consigliere_app, consigliere_system to ${name} with admin option`);
  await server.query(`create database ${name} owner ${name}`);
  const url = new URL(inject('serverUrl'));
  url.pathname = `/${name}`;
  const administrator = new pg.Client({ connectionString: url.href });
  Object.assign(url, { username: name, password: 'word' });
  const drop = async () => {
    await administrator.end();
    await server.query(`drop database ${name} with (force)`);
    await server.query(`drop role ${name}`);
    await server.end();
  };
  try {
    await administrator.connect();
    await migrate(url.href, before);
  } catch (error) {
    await drop();
    throw error;
  }
  return { url: url.href, administrator, drop };
}

async function migrate(url: string, before: number): Promise<void> {
  const owner = await new DataSource({
    type: 'postgres',
    url,
    installExtensions: false,
    migrations: (await allMigrations()).filter(({ name }) => Number(name.slice(-13)) < before),
    migrationsTableName: 'migrations',
  }).initialize();
  try {
    await owner.runMigrations({ transaction: 'each' });
  } finally {
    await owner.destroy();
  }
}
