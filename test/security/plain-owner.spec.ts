import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import pg from 'pg';
import { createApplication } from '../../src/application.js';
import { loadConfig } from '../../src/platform/config/config.js';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { Checkpoints } from '../../src/platform/receipts/checkpoints.js';
import { Client } from '../support/client.js';

it('a database whose owner is no superuser takes the whole way from migrations to a signed checkpoint', async () => {
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
  } finally {
    await app.close();
    await server.query(`drop database ${name} with (force)`);
    await server.end();
    await rm(dataDir, { recursive: true, force: true });
  }
});
