import { expect, it } from 'vitest';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';
import { createEarlierDatabase } from '../support/earlier-database.js';

/** One workspace killed an hour ago, one recovering from a kill of two hours ago, one at work; each with an approval. */
const ROWS = `
  set session_replication_role = replica;
  insert into guardians (workspace_id, mode, killed_at) values ('wks_1', 'killed', now() - interval '1 hour'),
    ('wks_2', 'recovering', null), ('wks_3', 'guardrailed', null);
  insert into approvals (approval_id, workspace_id, directive_id, kind, round, status, ready, title, summary, priority, risk, reversibility,
    requested_by, requested_at, expires_at, on_expiry, frozen_ms)
  select 'apr_' || n, 'wks_' || n, 'dir_' || n, 'output', 0, 'pending', true, '', '', 'medium', 'low', 'reversible', '{}',
    now() - interval '1 day', now() + interval '1 hour', 'reject', case when n < 3 then (n + 1) * 3600000 end
  from generate_series(1, 3) n;
  set session_replication_role = origin`;

it('the clocks of a workspace that is killed during an upgrade stand still since the kill', async () => {
  const database = await createEarlierDatabase(1766_000_000_220);
  const { url, administrator } = database;
  try {
    await administrator.query(ROWS);

    await prepareDatabase(url);

    const hours = async () => {
      const { rows } = await administrator.query<{ hours: number | null }>(
        `select round(extract(epoch from now() - clocks_stopped_at) / 3600)::int as hours from guardians order by workspace_id`,
      );
      return rows.map((row) => row.hours);
    };
    expect(await hours()).toEqual([1, 2, null]);

    // As a process of the version before does it.
    await administrator.query(
      `update guardians set mode = 'killed', killed_at = now() - interval '3 hours' where workspace_id <> 'wks_1'`,
    );
    expect(await hours()).toEqual([1, 2, 3]);
    await administrator.query(`update guardians set mode = 'guardrailed', killed_at = null`);
    expect(await hours()).toEqual([null, null, null]);
  } finally {
    await database.drop();
  }
}, 60_000);
