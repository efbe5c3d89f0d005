import { expect, it } from 'vitest';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';
import { createEarlierDatabase } from '../support/earlier-database.js';

it('the oldest of the workspaces that there are is the first afterwards, whoever owns the database', async () => {
  const database = await createEarlierDatabase(1763_900_000_070);
  const { url, administrator } = database;
  try {
    for (const [workspaceId, hours] of Object.entries({ wks_1: 0, wks_2: 24, wks_3: 1 })) {
      // The chain of a workspace begins under row-level security.
      await administrator.query(`select set_config('app.workspace_id', $1, false)`, [workspaceId]);
      await administrator.query(
        `insert into workspaces (workspace_id, name, tier, created_at) values ($1, $1, 'pro', now() - $2 * interval '1 hour')`,
        [workspaceId, hours],
      );
    }

    await prepareDatabase(url);

    const { rows } = await administrator.query(
      'select workspace_id, app.first_workspace() as first from workspaces where is_first',
    );
    expect(rows).toEqual([{ workspace_id: 'wks_2', first: 'wks_2' }]);
  } finally {
    await database.drop();
  }
}, 60_000);
