import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Db } from '../../../src/platform/database/db.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';

let test: TestApp;
let workspace: TestWorkspace;
beforeAll(async () => {
  test = await startTestApp();
  workspace = await test.createWorkspace();
});
afterAll(() => test.close());

interface PlanNode {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

/** Every quarter of an hour of these days, for the whole workspace. */
async function fill(fromDaysAgo: number, toDaysAgo: number): Promise<void> {
  await test.rows(
    `insert into tallies (workspace_id, team_id, kind, bucket, key, n, amount)
     select $1, '*', kind, at, '', 1, 1
     from unnest('{executed,pending}'::text[]) kind,
       generate_series(date_trunc('hour', now()) - make_interval(days => $2),
         date_trunc('hour', now()) - make_interval(days => $3) - interval '1 second', interval '15 minutes') at`,
    [workspace.workspaceId, fromDaysAgo, toDaysAgo],
  );
  await test.rows('vacuum analyze tallies');
}

/** What the program asks the database for when the tiles are read. */
async function statements(): Promise<{ text: string; values: unknown[] }[]> {
  const db = test.app.get(Db);
  const asked: { text: string; values: unknown[] }[] = [];
  const read = db.read.bind(db);
  db.read = (scope, text, values) => {
    asked.push({ text, values: values as unknown[] });
    return read(scope, text, values);
  };
  const { status } = await workspace.owner.get('/kpi');
  db.read = read;
  expect(status).toBe(200);
  return asked.filter(({ text }) => text.includes('from tallies'));
}

/** Blocks that the statement touches, carried out as the program carries it out. */
async function blocks(): Promise<number> {
  const [{ text, values }] = (await statements()) as [{ text: string; values: unknown[] }];
  const client = await test.database.owner.connect();
  try {
    await client.query('begin');
    await client.query('set local role consigliere_app');
    await client.query(
      `select set_config('app.workspace_id', $1, true), set_config('app.team_ids', '*', true),
      set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
      [workspace.workspaceId],
    );
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, buffers, format json) ${text}`,
      values,
    );
    const { Plan } = rows[0]!['QUERY PLAN'][0];
    return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
  } finally {
    await client.query('rollback');
    client.release();
  }
}

describe('the figures of the tiles', () => {
  it('cost as much to read after five years as after sixty days', { timeout: 180_000 }, async () => {
    await fill(60, 0);
    const afterSixtyDays = await blocks();
    expect(afterSixtyDays).toBeGreaterThan(20);
    await fill(1_826, 60);
    // The index may be one level deeper.
    expect(await blocks()).toBeLessThan(afterSixtyDays * 1.3);
  });
});
