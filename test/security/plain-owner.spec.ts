import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { INestApplicationContext } from '@nestjs/common';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import pg from 'pg';
import { DeleteWorkspaces } from '../../src/features/tenancy/delete-workspaces.js';
import { createApplication } from '../../src/application.js';
import { loadConfig } from '../../src/platform/config/config.js';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';
import { newId } from '../../src/platform/kernel/ids.js';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { Checkpoints } from '../../src/platform/receipts/checkpoints.js';
import { Client } from '../support/client.js';

it('a database whose owner is no superuser takes the whole way from migrations to a signed checkpoint and the deletion of a workspace', async () => {
  const name = `plain_${randomBytes(4).toString('hex')}`;
  const server = new pg.Client({ connectionString: inject('serverUrl') });
  await server.connect();
  await server.query(`create role ${name} login createrole nosuperuser nobypassrls password 'word'`);
  await server.query(`grant consigliere_app, consigliere_system to ${name} with admin option`);
  await server.query(`create database ${name} owner ${name}`);
  const address = new URL(inject('serverUrl'));
  Object.assign(address, { username: name, password: 'word', pathname: `/${name}` });
  const dataDir = await mkdtemp(join(tmpdir(), 'consigliere-plain-'));
  const token = newOperatorToken();
  await prepareDatabase(address.href);
  const config = loadConfig({
    NODE_ENV: 'test',
    DATABASE_URL: address.href,
    DATA_DIR: dataDir,
    BOOTSTRAP_TOKEN: token,
    LOG_LEVEL: 'silent',
  });
  const app = await createApplication(config, address.href);
  try {
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const owner = new Client(`http://127.0.0.1:${port}`, token);
    expect((await owner.post('/directive', { text: 'Write it down.' })).status).toBe(201);
    await app.get(Checkpoints).signDue();
    const { body } = await owner.get('/audit-feed/verify');
    expect(body).toMatchObject({ ok: true, checkpoints: { latest: { keyId: expect.any(String) } } });
    await deletesWorkspace(app, address.href);
    expect((await owner.get('/audit-feed?action=workspace.deleted')).body.items).toHaveLength(1);
    expect((await owner.get('/audit-feed/verify')).body).toMatchObject({ ok: true });
  } finally {
    await app.close();
    await server.query(`drop database ${name} with (force)`);
    await server.end();
    await rm(dataDir, { recursive: true, force: true });
  }
});

/** Row-level security is forced on this owner too: a workspace with its receipts and its account must go all the same. */
async function deletesWorkspace(app: INestApplicationContext, url: string): Promise<void> {
  const plain = new pg.Client({ connectionString: url });
  await plain.connect();
  try {
    const workspaceId = newId('wks');
    const rows = async (sql: string, ...values: unknown[]) =>
      (await plain.query(sql, [workspaceId, ...values])).rows;
    await plain.query(
      `select set_config('app.workspace_id', $1, false), set_config('app.team_ids', '*', false)`,
      [workspaceId],
    );
    await rows(`insert into workspaces (workspace_id, name, tier) values ($1, 'Second', 'pro')`);
    await plain.query(
      `insert into users (user_id, email, display_name) values ('usr_2', 'two@example.com', 'Two')`,
    );
    await rows(
      `insert into members (member_id, workspace_id, user_id, role) values ('mem_2', $1, 'usr_2', 'owner')`,
    );
    await rows(
      `insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id, body,
         prev_hash, hash) values ($1, 1, 'rcp_2', now(), 'system', 'x', 'x', 'x', 'x', '{}', 'x', 'x')`,
    );
    await rows(`insert into receipt_checkpoints select $1, 1, 'x', now(), key_id, 'x' from signing_keys`);
    await rows(`insert into second_factors (user_id, sealed_secret, begun_at) select user_id, 'x', now() from members
      where workspace_id = $1`);
    await rows(
      `insert into workspace_exports values ($2, $1, '{}', now(), now(), '0', 1, 1, 1, 'x')`,
      newId('exp'),
    );
    await rows(`insert into workspace_deletions values ($1, '{"name": "Two"}', now(), now(), false, now())`);
    await app.get(DeleteWorkspaces, { strict: false }).execute();
    for (const table of ['workspaces', 'members', 'receipts', 'receipt_checkpoints', 'receipt_heads']) {
      expect(await rows(`select 1 from ${table} where workspace_id = $1`), table).toEqual([]);
    }
    await plain.query(`set role consigliere_system`);
    expect((await plain.query(`select 1 from users where user_id = 'usr_2'`)).rows).toEqual([]);
  } finally {
    await plain.end();
  }
}
