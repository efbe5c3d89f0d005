import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';
import { createEarlierDatabase, type EarlierDatabase } from '../support/earlier-database.js';

/** Two steps of transactions of the program, which runs while a new process migrates. */
const TRANSACTIONS: [string, string][] = [
  ['select from decision_links for update', 'select from approvals for update'],
  [`update members set role = 'admin'`, 'select from approvals for update'],
  ['select from approvals for update', 'select from escalations for update'],
  ['select from action_requests for update', 'update action_requests set due_at = null'],
];

let database: EarlierDatabase;
const clients: pg.Client[] = [];
beforeAll(async () => {
  database = await createEarlierDatabase(1766_000_000_150);
}, 60_000);
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await database.drop();
});

/** A connection of its own, in a transaction. */
async function begin(): Promise<{ client: pg.Client; pid: number }> {
  const url = new URL(database.url);
  const client = new pg.Client({ connectionString: url.href });
  clients.push(client);
  await client.connect();
  await client.query('begin');
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return { client, pid: rows[0]!.pid };
}

it('lets a transaction of the program that has begun go on, and waits for it', async () => {
  const open = [];
  for (const [first, second] of TRANSACTIONS) {
    const { client, pid } = await begin();
    await client.query(first);
    open.push({ client, pid, second });
  }
  const migrated = prepareDatabase(database.url);
  let isMigrated = false;
  migrated.then(
    () => (isMigrated = true),
    () => (isMigrated = true),
  );
  while (open.length > 0 && !isMigrated) {
    const { rows } = await database.administrator.query<{ pid: number }>(
      `select unnest(pg_blocking_pids(pid)) as pid from pg_stat_activity where datname = current_database()`,
    );
    const index = open.findIndex(({ pid }) => rows.some((row) => row.pid === pid));
    const [next] = index < 0 ? [] : open.splice(index, 1);
    if (!next) continue;
    await next.client.query(next.second);
    await next.client.query('commit');
  }
  await migrated;
  expect(open).toEqual([]);
}, 60_000);
