import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Db } from '../../src/platform/database/db.js';
import { Unavailable } from '../../src/platform/kernel/errors.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** Longer than the database lets a transaction stand still. */
const STARVED_MS = 2_500;

describe('a transaction that stood still because its process got no processor', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  it('is ended by the database, which the caller is told as 503 and not as 500, and the next one goes through', async () => {
    const db = test.app.get(Db);
    const scope = { workspaceId: test.workspaceId, teamIds: 'all' } as const;
    const rename = (name: string) =>
      db.query('update workspaces set name = $2 where workspace_id = $1', [test.workspaceId, name]);
    const starved = db.transaction(scope, async () => {
      await rename('Before');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STARVED_MS);
      await rename('After');
    });
    await expect(starved).rejects.toBeInstanceOf(Unavailable);
    await db.transaction(scope, () => rename('Next'));
    expect(await test.rows('select name from workspaces')).toEqual([{ name: 'Next' }]);
  });
});
