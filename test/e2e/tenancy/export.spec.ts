import { createHash } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LEFT_OUT_COLUMNS, LEFT_OUT_TABLES } from '../../../src/features/tenancy/export.reader.js';
import { verifyExport } from '../../../src/features/tenancy/verify-export.js';
import { Checkpoints } from '../../../src/platform/receipts/checkpoints.js';
import { eventually } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { fullWorkspace, SECRETS } from './full-workspace.js';
import { code, TenancyDesk, type Tenant } from './tenancy-desk.js';

let desk: TenancyDesk;
let full: Tenant;
beforeAll(async () => {
  desk = await TenancyDesk.open();
  full = await fullWorkspace(desk);
}, 60_000);
afterAll(() => desk.test.close());

const verified = (text: string) => verifyExport(Readable.from([Buffer.from(text)]));
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('GET /api/admin/workspace/export: 200', () => {
  it('holds every record of every table with rows of the workspace that is not left out by name', async () => {
    await desk.test.app.get(Checkpoints, { strict: false }).signDue();
    const before = await desk.stored(full.workspaceId);
    const lines = linesOf(await desk.export(full));
    const { manifest } = lines[0];
    const { counts } = lines.at(-1).end;
    const tables = await desk.tables();
    // A table that is new stands in one or the other; here it must have rows, so that it is shown to be exported.
    expect([...manifest.tables, ...Object.keys(LEFT_OUT_TABLES)].toSorted()).toEqual(
      [...tables, 'users'].toSorted(),
    );
    for (const table of manifest.tables as string[]) {
      const more = table === 'workspace_exports' ? 1 : 0;
      expect([table, counts[table]]).toEqual([table, before[table]!.length + more]);
      if (table !== 'workspace_deletions') expect([table, counts[table] > 0]).toEqual([table, true]);
    }
    expect(counts.receipts).toBe(before['receipts']!.length + 1);
    expect(counts.checkpoints).toBe(before['receipt_checkpoints']!.length);
    for (const [name, reason] of Object.entries({ ...LEFT_OUT_TABLES, ...LEFT_OUT_COLUMNS })) {
      expect(manifest.leftOut[name]).toBe(reason);
    }
  });

  it('holds each record with all its columns but those that are named as left out', async () => {
    const lines = linesOf(await desk.export(full));
    const { manifest } = lines[0];
    const columns = await desk.test.rows<{ name: string }>(
      `select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relname = any($1) and c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped`,
      [manifest.tables],
    );
    const exported = new Set<string>(
      lines.flatMap(({ kind, table, row }) =>
        kind === 'record' ? Object.keys(row).map((key) => `${table}.${key}`) : [],
      ),
    );
    const known = columns.map(({ name }) => name).filter((name) => !name.startsWith('workspace_deletions.'));
    expect(known.filter((name) => !exported.has(name) && !(name in manifest.leftOut))).toEqual([]);
    expect(Object.keys(manifest.leftOut).filter((name) => exported.has(name))).toEqual([]);
  });

  it('holds no secret, no hash of one, and nothing that was encrypted', async () => {
    const text = await desk.export(full);
    for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret);
    const hidden = await desk.test.rows<{ value: string }>(
      `select token_hash as value from tokens where workspace_id = $1
       union all select token_hash from invites where workspace_id = $1
       union all select secret_hash from sessions where workspace_id = $1
       union all select sealed_secret from partner_secrets where workspace_id = $1`,
      [full.workspaceId],
    );
    expect(hidden.length).toBeGreaterThan(4);
    for (const { value } of hidden) expect(text).not.toContain(value);
    expect(text).not.toMatch(/"(password_hash|token_hash|secret_hash|sealed_\w+)"/);
    expect(text).not.toContain('PRIVATE KEY');
  });

  it('shows nothing of another workspace', async () => {
    const other = await desk.tenant();
    await new Desk(desk.test, other.owner.token).handInReady();
    const text = await desk.export(full);
    expect(text).not.toContain(other.workspaceId);
    expect(text).not.toContain(desk.test.workspaceId);
  });

  it('verifies, and leaves a receipt with the digest of all lines before the last', async () => {
    const text = await desk.export(full);
    const { manifest, end, lines } = await verified(text);
    const last = text.trimEnd().lastIndexOf('\n') + 1;
    expect(end.sha256).toBe(createHash('sha256').update(text.slice(0, last)).digest('hex'));
    const receipt = await eventually(
      async () => (await desk.receipts(full.workspaceId, 'workspace.exported')).at(-1),
      (found) => found?.entity.id === manifest.exportId,
    );
    expect(receipt.details).toMatchObject({ sha256: end.sha256, lines, bytes: Buffer.byteLength(text) });
    const { body } = await full.admin.get('/workspace/deletion');
    expect(body).toMatchObject({ state: 'active', deletion: null, export: { sha256: end.sha256, lines } });
  });

  it('is one moment while directives come in', async () => {
    const busy = await desk.tenant();
    const owner = new Desk(desk.test, busy.owner.token);
    const memo = `File this memo for the board: ${'Delays. '.repeat(200)}`;
    const handingIn = Promise.all(Array.from({ length: 40 }, () => owner.handIn({ text: memo })));
    for (let n = 0; n < 2; n++) {
      const text = await desk.export(busy);
      await verified(text);
      const lines = linesOf(text);
      const of = (table: string) => lines.filter((line) => line.table === table).map(({ row }) => row);
      const created = lines.filter(({ receipt }) => receipt?.action === 'directive.created');
      const ids = of('directives').map(({ directive_id: id }) => id);
      expect(ids).toHaveLength(created.length);
      expect(new Set(of('approvals').map(({ directive_id: id }) => id))).toEqual(new Set(ids));
    }
    await handingIn;
  }, 60_000);

  it('is not begun by HEAD', async () => {
    const before = await desk.receipts(full.workspaceId, 'workspace.export_started');
    expect((await desk.again(full.admin).send('HEAD', '/workspace/export')).status).toBe(200);
    expect(await desk.receipts(full.workspaceId, 'workspace.export_started')).toEqual(before);
  });

  it('waits for its reader, and counts as none when the reader leaves', async () => {
    const slow = await desk.tenant();
    // Far more than the buffers of a connection hold.
    await desk.test.rows(
      `insert into documents (document_id, workspace_id, directive_id, work_packet_id, title, body, created_at)
       select 'doc_' || n, $1, 'dir', 'pkt_' || n, 'Long', repeat('x', 100000), now() from generate_series(1, 400) n`,
      [slow.workspaceId],
    );
    const url = new URL('/api/admin/workspace/export', desk.test.url);
    const request = get(url, { headers: { Cookie: `consigliere_session=${slow.admin.secret}` } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    await once(response, 'readable');
    expect(code(await desk.again(full.admin).get('/workspace/export'))).toEqual([409, 'EXPORT_RUNNING']);
    response.destroy();
    // The next finds the place free.
    await eventually(
      async () => (await desk.again(full.admin).get('/workspace/export')).status,
      (status) => status === 200,
    );
    const [row] = await desk.test.rows(
      'select completed_at, sha256 from workspace_exports where workspace_id = $1',
      [slow.workspaceId],
    );
    expect(row).toEqual({ completed_at: null, sha256: null });
    expect(await desk.receipts(slow.workspaceId, 'workspace.export_started')).toHaveLength(1);
    expect(await desk.receipts(slow.workspaceId, 'workspace.exported')).toEqual([]);
  });

  /** An export of far more than the buffers of a connection hold, whose reader has taken the beginning. */
  async function begun() {
    const tenant = await desk.tenant();
    const { workspaceId, admin } = tenant;
    await desk.test.rows(
      `insert into documents (document_id, workspace_id, directive_id, work_packet_id, title, body, created_at)
       select $2 || n, $1, 'dir', 'pkt_' || n, 'Long', repeat('x', 100000), now() from generate_series(1, 400) n`,
      [workspaceId, `doc_${workspaceId}_`],
    );
    const url = new URL('/api/admin/workspace/export', desk.test.url);
    const request = get(url, { headers: { Cookie: `consigliere_session=${admin.secret}` } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response, 'readable');
    // Until it waits for its reader.
    await eventually(
      () =>
        desk.test.rows(
          `select 1 from pg_stat_activity where application_name = 'consigliere export'
             and datname = current_database() and state_change < clock_timestamp() - interval '300 milliseconds'`,
        ),
      ({ length }) => length === 1,
    );
    /** Reads on, slowly enough that the question is asked again. */
    const readOn = async () => {
      for await (const piece of response)
        if (piece.length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    return { workspaceId, readOn };
  }

  /** The level and the words with which the last export was logged, once it was. */
  const logged = (message: string) =>
    eventually(
      () => Promise.resolve(desk.test.logs.findLast(({ exportId }) => exportId !== undefined)),
      (line) => line?.['msg'] === message,
    );
  const BROKEN_OFF = 'an export was broken off before its reader had all of it';

  it.each([
    ['its reader is no owner any more', `update members set role = 'admin' where workspace_id = $1`],
    ['the session of its reader was ended', 'update sessions set ended_at = now() where workspace_id = $1'],
  ])('ends when %s', async (_when, sql) => {
    const { workspaceId, readOn } = await begun();
    await desk.test.rows(sql, [workspaceId]);
    await expect(readOn()).rejects.toThrow('aborted');
    expect(await logged(BROKEN_OFF)).toMatchObject({ level: 'warn' });
  });

  it('ends with a reader who is too slow, so that others can export', async () => {
    const { readOn } = await begun();
    desk.test.clock.advance(10 * 60_000);
    try {
      await expect(readOn()).rejects.toThrow('aborted');
      expect(await logged(BROKEN_OFF)).toMatchObject({ err: { message: expect.stringContaining('64 kB') } });
    } finally {
      desk.test.clock.goOn();
    }
    await desk.export(full);
  });

  it('tells whoever runs the service when it was the service that failed', async () => {
    const { readOn } = await begun();
    await desk.test.rows(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'consigliere export' and datname = current_database()`,
    );
    await expect(readOn()).rejects.toThrow('aborted');
    expect(await logged('an export failed')).toMatchObject({ level: 'error' });
  });
});

describe('GET /api/admin/workspace/export: 403', () => {
  it.each(['admin', 'operator', 'viewer'] as const)('refuses the %s of the workspace', async (role) => {
    const { memberId } = await desk.test.createMember(full.workspaceId, role);
    const before = await desk.receipts(full.workspaceId, 'workspace.export_started');
    expect(code(await (await desk.test.signIn(memberId)).get('/workspace/export'))).toEqual([
      403,
      'FORBIDDEN',
    ]);
    expect(await desk.receipts(full.workspaceId, 'workspace.export_started')).toEqual(before);
  });
});

describe('GET /api/admin/workspace/export: 401', () => {
  it('refuses an operator token', async () => {
    expect((await full.owner.get('/api/admin/workspace/export')).status).toBe(401);
  });
});
