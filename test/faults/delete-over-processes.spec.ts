import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/platform/kernel/ids.js';
import { type Service, startService } from '../support/processes.js';
import { eventually } from '../support/test-app.js';

let service: Service;
beforeAll(async () => {
  service = await startService(1);
}, 60_000);
afterAll(() => service.close());

it('goes on in another process when one is killed in the middle of a deletion', async () => {
  const { workspaceId } = await service.createWorkspace('pro');
  await service.rows(
    `insert into documents (document_id, workspace_id, directive_id, work_packet_id, title, body, created_at)
     select 'doc_' || n, $1, 'dir', 'pkt_' || n, 'Long', repeat('x', 1000), now() from generate_series(1, 30000) n`,
    [workspaceId],
  );
  await service.rows(
    `insert into workspace_exports (export_id, workspace_id, asked_by, started_at, completed_at, sha256, lines, bytes, head_seq, head_hash)
     values ($2, $1, '{}', now(), now(), repeat('0', 64), 1, 1, 0, repeat('0', 64))`,
    [workspaceId, newId('exp')],
  );
  await service.rows(
    `insert into workspace_deletions values ($1, '{"name": "Ines"}', now(), now() - interval '1 minute', false, now() - interval '1 day')`,
    [workspaceId],
  );
  const left = async () => {
    const [row] = await service.rows<{ n: number }>(
      'select count(*)::int as n from documents where workspace_id = $1',
      [workspaceId],
    );
    return row!.n;
  };
  await eventually(left, (n) => n < 30_000, 90);
  await service.processes[0]!.kill();
  const atTheKill = await left();
  expect(atTheKill).toBeGreaterThan(0);
  await service.start();
  await service.start();
  await eventually(
    () => service.rows('select 1 from workspaces where workspace_id = $1', [workspaceId]),
    (rows) => rows.length === 0,
    90,
  );
  expect(await left()).toBe(0);
  expect(
    await service.rows(`select 1 from receipts where action = 'workspace.deleted' and entity_id = $1`, [
      workspaceId,
    ]),
  ).toHaveLength(1);
}, 300_000);
