import type { PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeleteWorkspaces } from '../../../src/features/tenancy/delete-workspaces.js';
import { Deletions } from '../../../src/features/tenancy/tenancy.repository.js';
import { Db } from '../../../src/platform/database/db.js';
import { Checkpoints } from '../../../src/platform/receipts/checkpoints.js';
import { Client } from '../../support/client.js';
import { eventually } from '../../support/test-app.js';
import { fullWorkspace } from './full-workspace.js';
import { code, TenancyDesk, type Tenant } from './tenancy-desk.js';

let desk: TenancyDesk;
let sweep: DeleteWorkspaces;
let foldLock: PoolClient;
beforeAll(async () => {
  desk = await TenancyDesk.open();
  sweep = desk.test.app.get(DeleteWorkspaces, { strict: false });
  // Whoever has this lock keeps the tallies from being added up, which happens beside what is tested here.
  foldLock = await desk.test.database.owner.connect();
  await foldLock.query(`select pg_advisory_lock(hashtextextended('fold tallies', 4))`);
});
afterAll(async () => {
  foldLock.release(true);
  await desk.test.close();
});

/** Everything, of every workspace but this one and the first, byte for byte. */
async function others(workspaceId: string): Promise<string> {
  const all: Record<string, unknown> = {};
  for (const table of await desk.tables()) {
    all[table] = await desk.test.rows(
      `select t::text as row from ${table} t where workspace_id <> $1 and workspace_id <> $2 order by 1`,
      [workspaceId, desk.test.workspaceId],
    );
  }
  return JSON.stringify(all);
}

/** Tables with rows of accounts that belong to no workspace: what is new here must go with the account, too. */
async function accountTables(): Promise<string[]> {
  const rows = await desk.test.rows<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'user_id'
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
       and c.relname not in (select name from app.tenant_tables()) order by 1`,
  );
  return rows.map(({ name }) => name);
}

const ofAccount = (table: string, userId: string) =>
  desk.test.rows(`select 1 from ${table} where user_id = $1`, [userId]);

/** Sweeps until this workspace is gone: a sweep that the program makes by itself may be at it just now. */
const swept = (workspaceId: string, rowsAtOnce?: number) =>
  eventually(
    async () => {
      await sweep.execute(rowsAtOnce);
      return desk.test.rows('select 1 from workspaces where workspace_id = $1', [workspaceId]);
    },
    ({ length }) => length === 0,
  );

/** The tables that hold something yet. */
const filled = (stored: Record<string, string[]>) =>
  Object.keys(stored).filter((table) => stored[table]!.length > 0);

/** Nobody is being mailed of what waits for them, so that no row changes by itself. */
const peopleAreTold = () =>
  eventually(
    () =>
      desk.test.rows(
        `select 1 from work_items where kind like 'notification.%' and due_at < now() + interval '10 seconds'`,
      ),
    (due) => due.length === 0,
  );

/** As the program itself would call it. */
const tryDelete = (workspaceId: string, rowsAtOnce = 10) =>
  desk.test.app
    .get(Db)
    .transaction({ workspaceId: desk.test.workspaceId, teamIds: 'all' }, () =>
      desk.test.app.get(Deletions, { strict: false }).deleteRows(workspaceId, rowsAtOnce),
    );

describe('the deletion of a workspace', () => {
  it('takes every row of it and nothing of any other, and leaves a receipt in the first chain', async () => {
    const [full, other] = [await fullWorkspace(desk), await fullWorkspace(desk)];
    // One person is a member of both, one of the deleted alone.
    const both = await desk.test.createMember(full.workspaceId, 'viewer');
    await desk.test.rows(
      `insert into members (member_id, workspace_id, user_id, role)
       select 'mem_of_both', $2, user_id, 'viewer' from members where member_id = $1`,
      [both.memberId, other.workspaceId],
    );
    await desk.test.rows(
      `insert into receipt_checkpoints select $1, 1, 'x', now(), key_id, 'x' from signing_keys on conflict do nothing`,
      [full.workspaceId],
    );
    await desk.requestDeletion(full);
    await desk.mails(`${full.owner.memberId}r`);
    await desk.endGrace(full.workspaceId);
    await peopleAreTold();
    const before = await desk.stored(full.workspaceId);
    // A table that is new must have a row here, so that it is shown to be emptied: see full-workspace.ts.
    expect(Object.keys(before).filter((table) => before[table]!.length === 0)).toEqual([]);
    // Their chains are signed before, and not meanwhile.
    await desk.test.app.get(Checkpoints, { strict: false }).signDue();
    const untouched = await others(full.workspaceId);
    const users = await desk.test.rows<{ user_id: string }>('select user_id from users');
    const [owner] = await desk.test.rows<{ user_id: string }>(
      'select user_id from members where member_id = $1',
      [full.owner.memberId],
    );
    const accounts = await accountTables();
    expect(accounts).toContain('second_factors');
    for (const table of accounts) {
      expect([table, (await ofAccount(table, owner!.user_id)).length]).toEqual([table, 1]);
    }
    const [head] = await desk.test.rows<{ seq: string; hash: string }>(
      'select seq::int, hash from receipt_heads where workspace_id = $1',
      [full.workspaceId],
    );

    await swept(full.workspaceId, 7);

    const after = await desk.stored(full.workspaceId);
    expect(filled(after)).toEqual([]);
    expect(await others(full.workspaceId)).toBe(untouched);
    const left = (await desk.test.rows<{ user_id: string }>('select user_id from users')).map(
      (row) => row.user_id,
    );
    expect(users.length - left.length).toBe(before['users']!.length - 1);
    expect(left).toContain(
      (
        await desk.test.rows<{ user_id: string }>(
          `select user_id from members where member_id = 'mem_of_both'`,
        )
      )[0]!.user_id,
    );
    for (const table of accounts)
      expect([table, await ofAccount(table, owner!.user_id)]).toEqual([table, []]);
    const [receipt] = await desk.receipts(desk.test.workspaceId, 'workspace.deleted');
    expect(receipt).toMatchObject({
      entity: { type: 'workspace', id: full.workspaceId },
      details: {
        name: full.name,
        head,
        rows: expect.any(Number),
        requestedBy: { id: full.owner.memberId },
        export: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), exportId: expect.stringMatching(/^exp_/) },
      },
    });
    expect((await desk.test.owner.get('/audit-feed/verify')).body).toMatchObject({ ok: true });
    expect((await other.owner.get('/audit-feed/verify')).status).toBe(200);
    // For half a second a caller is remembered.
    desk.test.clock.advance(1_000);
    expect((await new Client(desk.test.url, full.owner.token).get('/context')).status).toBe(401);
    expect((await desk.again(full.admin).get('/workspace/deletion')).status).toBe(401);
  }, 60_000);

  it('is done once by any number of processes at a time', async () => {
    const tenant = await desk.tenant();
    await desk.requestDeletion(tenant);
    await desk.endGrace(tenant.workspaceId);
    await Promise.all(Array.from({ length: 4 }, () => sweep.execute(3)));
    await swept(tenant.workspaceId);
    const told = (await desk.receipts(desk.test.workspaceId, 'workspace.deleted')).filter(
      ({ entity }) => entity.id === tenant.workspaceId,
    );
    expect(told).toHaveLength(1);
    expect(filled(await desk.stored(tenant.workspaceId))).toEqual([]);
  });

  it('takes what somebody changes in the same moment', async () => {
    const tenant = await desk.tenant();
    await desk.requestDeletion(tenant);
    await peopleAreTold();
    await desk.endGrace(tenant.workspaceId);
    await desk.test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at) values ('claimed', 'now', $1, $1, 'infinity')`,
      [tenant.workspaceId],
    );
    const claim = await desk.test.database.owner.connect();
    await claim.query(`begin`);
    await claim.query(`update work_items set attempt = attempt + 1 where kind = 'claimed'`);
    const deleting = tryDelete(tenant.workspaceId, 1_000);
    const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%app.delete_workspace%'`;
    await eventually(
      () => desk.test.rows(waits),
      ({ length }) => length === 1,
    );
    await claim.query('commit');
    claim.release();
    await deleting;
    await swept(tenant.workspaceId);
    expect(filled(await desk.stored(tenant.workspaceId))).toEqual([]);
  });

  it('is nothing to warn of for a process that comes when another has deleted the last row', async () => {
    const tenant = await desk.tenant();
    await desk.requestDeletion(tenant);
    await desk.endGrace(tenant.workspaceId);
    await swept(tenant.workspaceId);
    expect(await tryDelete(tenant.workspaceId)).toEqual({ rows: 0, busy: false, gone: true });
  });

  it('either takes place or is taken back, whoever is first', async () => {
    for (let n = 0; n < 8; n++) {
      const tenant = await desk.tenant();
      await desk.requestDeletion(tenant);
      await desk.endGrace(tenant.workspaceId);
      const [answer] = await Promise.all([
        desk.again(tenant.admin).delete('/workspace/deletion'),
        sweep.execute(5),
      ]);
      if (answer.status !== 200) await swept(tenant.workspaceId);
      const rows = await desk.test.rows('select 1 from workspaces where workspace_id = $1', [
        tenant.workspaceId,
      ]);
      if (answer.status === 200) {
        expect(rows).toHaveLength(1);
        expect((await tenant.owner.get('/audit-feed/verify')).body).toMatchObject({ ok: true });
        expect((await tenant.owner.put('/settings', { presence: 'away' })).status).toBe(200);
      } else {
        expect([401, 409, 503]).toContain(answer.status);
        expect(rows).toEqual([]);
        expect(filled(await desk.stored(tenant.workspaceId))).toEqual([]);
      }
    }
  }, 30_000);

  it('goes on after a workspace that cannot be deleted', async () => {
    const [stuck, next] = [await desk.tenant(), await desk.tenant()];
    await desk.test.rows('create table clinging (workspace_ref text references workspaces)');
    try {
      await desk.test.rows('insert into clinging values ($1)', [stuck.workspaceId]);
      for (const tenant of [stuck, next]) {
        await desk.requestDeletion(tenant);
        await desk.endGrace(tenant.workspaceId);
      }
      await swept(next.workspaceId);
      expect(
        await desk.test.rows('select 1 from workspaces where workspace_id = $1', [stuck.workspaceId]),
      ).toHaveLength(1);
    } finally {
      await desk.test.rows('drop table clinging');
    }
    await swept(stuck.workspaceId);
  });
});

describe('the door of the deletion', () => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await desk.tenant();
  });

  /** A statement as the program's role, in a transaction of this workspace. */
  async function asApp(sql: string, values: unknown[] = []): Promise<unknown> {
    const client = await desk.test.database.owner.connect();
    try {
      await client.query('begin');
      await client.query('set local role consigliere_app');
      await client.query(
        `select set_config('app.workspace_id', $1, true), set_config('app.team_ids', '*', true)`,
        [tenant.workspaceId],
      );
      return await client.query(sql, values);
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  it('is shut for a workspace that nobody asked to delete', async () => {
    await expect(tryDelete(tenant.workspaceId)).rejects.toThrow(
      'a workspace is deleted when its grace is over, and not before',
    );
  });

  it('is shut during the grace, and before the owners were warned', async () => {
    await desk.requestDeletion(tenant);
    await expect(tryDelete(tenant.workspaceId)).rejects.toThrow('grace');
    await desk.test.rows(
      `update workspace_deletions set due_at = now() - interval '1 day' where workspace_id = $1`,
      [tenant.workspaceId],
    );
    await expect(tryDelete(tenant.workspaceId)).rejects.toThrow('grace');
    await desk.test.rows(
      `update workspace_deletions set due_at = now() + interval '1 hour', warned_at = now() where workspace_id = $1`,
      [tenant.workspaceId],
    );
    await expect(tryDelete(tenant.workspaceId)).rejects.toThrow('grace');
  });

  it('is shut for the first workspace, whatever stands in the table', async () => {
    await desk.test.rows(
      `insert into workspace_deletions values ($1, '{}', now(), now() - interval '1 day', false, now() - interval '1 day')`,
      [desk.test.workspaceId],
    );
    try {
      await expect(tryDelete(desk.test.workspaceId)).rejects.toThrow('grace');
    } finally {
      await desk.test.rows('delete from workspace_deletions where workspace_id = $1', [
        desk.test.workspaceId,
      ]);
    }
  });

  it.each([
    ['write the table of deletions', `update workspace_deletions set due_at = now() - interval '1 day'`],
    ['begin a deletion', `insert into workspace_deletions values ($1, '{}', now(), now(), false)`],
    ['delete receipts', 'delete from receipts where workspace_id = $1'],
    ['delete a checkpoint', 'delete from receipt_checkpoints where workspace_id = $1'],
    ['open a chain to people again', 'update receipt_heads set read_only = false where workspace_id = $1'],
    ['delete the workspace', 'delete from workspaces where workspace_id = $1'],
    ['delete accounts', 'select app.delete_users(array[$1])'],
  ])('lets the program not %s', async (_what, sql) => {
    await expect(asApp(sql, sql.includes('$1') ? [tenant.workspaceId] : [])).rejects.toThrow(
      /permission denied/,
    );
  });

  it('lets even the owner of the database delete no receipt by hand', async () => {
    await expect(
      desk.test.rows('delete from receipts where workspace_id = $1', [tenant.workspaceId]),
    ).rejects.toThrow('append-only');
    await expect(desk.test.rows('truncate receipts')).rejects.toThrow('append-only');
    await expect(
      desk.test.rows(`update receipts set body = '' where workspace_id = $1`, [tenant.workspaceId]),
    ).rejects.toThrow('append-only');
  });

  it('shows what it deletes, so that a refusal leaves everything', async () => {
    expect(code(await desk.again(tenant.admin).delete('/workspace/deletion'))[0]).toBe(200);
    expect((await tenant.owner.get('/audit-feed/verify')).body).toMatchObject({ ok: true });
  });
});
