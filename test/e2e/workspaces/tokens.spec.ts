import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplication } from '../../../src/application.js';
import type { Role } from '../../../src/platform/auth/caller.js';
import { loadConfig } from '../../../src/platform/config/config.js';
import { sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { isOperatorToken } from '../../../src/platform/kernel/operator-token.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';

const HOUR_MS = 3_600_000;

let test: TestApp;
let owner: TestMember;
let admin: TestMember;
let workspaceId: string;
beforeAll(async () => {
  test = await startTestApp();
  ({ workspaceId } = await test.createWorkspace());
  owner = await test.createMember(workspaceId, 'owner');
  admin = await test.createMember(workspaceId, 'admin');
});
afterAll(() => test.close());

/** From an address of its own, since 30 mutations a minute are all that one address has. */
const as = (member: TestMember) => new Client(test.url, member.token);
const holding = (token: string) => new Client(test.url, token);
const create = async (body: object = {}, member = owner) =>
  (await as(member).post('/tokens', { name: 'ci', ...body })).body;

const row = async (tokenId: string) =>
  (await test.rows('select * from tokens where token_id = $1', [tokenId]))[0];
const receipts = async (entityId: string) =>
  (
    await test.rows<{ body: string }>('select body from receipts where entity_id = $1 order by seq', [
      entityId,
    ])
  ).map(({ body }) => JSON.parse(body) as Record<string, unknown>);

/** Every row of every table as text: what someone who reads the whole database sees. */
async function everythingStored(): Promise<string> {
  const tables = await test.rows<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'graphile_worker')`,
  );
  const all = await Promise.all(tables.map(({ name }) => test.rows(`select t::text from ${name} t`)));
  return JSON.stringify(all);
}

describe('POST /tokens 201', () => {
  it('answers a token that works, and stores its SHA-256 with a receipt', async () => {
    const expiresAt = Date.now() + HOUR_MS;
    const answer = await as(owner).post('/tokens', { name: 'Nightly – ünïcode', expiresAt });
    expect(answer.status).toBe(201);
    const { tokenId, token } = answer.body;
    expect(answer.body).toEqual({
      tokenId: expect.stringMatching(/^tok_[0-9a-z]{26}$/),
      name: 'Nightly – ünïcode',
      token: expect.stringMatching(/^cons_/),
      memberId: owner.memberId,
      memberName: expect.any(String),
      hint: token.slice(-4),
      createdAt: expect.any(Number),
      lastUsedAt: null,
      expiresAt,
      revokedAt: null,
    });
    expect(isOperatorToken(token)).toBe(true);
    expect((await holding(token).get('/profile')).body.operator.memberId).toBe(owner.memberId);
    expect(await row(tokenId)).toEqual({
      token_id: tokenId,
      workspace_id: workspaceId,
      member_id: owner.memberId,
      name: 'Nightly – ünïcode',
      token_hash: sha256(token),
      hint: token.slice(-4),
      created_at: new Date(answer.body.createdAt),
      last_used_at: null,
      expires_at: new Date(expiresAt),
      revoked_at: null,
    });
    expect(await receipts(tokenId)).toEqual([
      expect.objectContaining({
        action: 'token.created',
        actor: expect.objectContaining({ type: 'member', id: owner.memberId, via: 'api' }),
        entity: { type: 'token', id: tokenId },
        details: { name: 'Nightly – ünïcode', hint: token.slice(-4), memberId: owner.memberId, expiresAt },
        requestId: answer.headers.get('x-request-id'),
      }),
    ]);
    expect(await everythingStored()).not.toContain(token);
  });

  it.each<[Role, Role]>([
    ['admin', 'viewer'],
    ['admin', 'operator'],
    ['admin', 'admin'],
    ['owner', 'admin'],
    ['owner', 'owner'],
  ])('lets %s make one for a member who is %s', async (by, role) => {
    const { memberId } = await test.createMember(workspaceId, role);
    const { token } = await create({ memberId }, by === 'admin' ? admin : owner);
    expect((await holding(token).get('/profile')).body.operator).toMatchObject({ memberId, role });
  });

  it('answers a repeated Idempotency-Key with the first token and makes no second', async () => {
    const headers = { 'Idempotency-Key': newId('req') };
    const first = await as(owner).post('/tokens', { name: 'once' }, headers);
    const again = await as(owner).post('/tokens', { name: 'once' }, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.text).toBe(first.text);
    expect(await test.rows(`select 1 from tokens where name = 'once'`)).toHaveLength(1);
  });
});

describe('POST /tokens 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).post('/tokens', { name: 'x' })).status).toBe(401);
  });
});

describe('POST /tokens 403', () => {
  it.each<Role>(['viewer', 'operator'])('refuses a %s', async (role) => {
    const { status, body } = await as(await test.createMember(workspaceId, role)).post('/tokens', {
      name: 'x',
    });
    expect(status).toBe(403);
    expect(body.error.details).toEqual({ requiredRoles: ['admin', 'owner'] });
  });

  it('refuses an admin a token of an owner', async () => {
    const before = await test.rows('select 1 from tokens');
    const { status, body } = await as(admin).post('/tokens', { name: 'x', memberId: owner.memberId });
    expect(status).toBe(403);
    expect(body.error.details).toEqual({ requiredRoles: ['owner'] });
    expect(await test.rows('select 1 from tokens')).toHaveLength(before.length);
  });
});

describe('POST /tokens 404', () => {
  it('cannot tell a member of another workspace, or one that was removed, from none', async () => {
    const removed = await test.createMember(workspaceId, 'viewer');
    await test.rows(`update members set status = 'removed' where member_id = $1`, [removed.memberId]);
    const foreign = await test.createMember((await test.createWorkspace()).workspaceId, 'viewer');
    const answers = [newId('mem'), removed.memberId, foreign.memberId].map(async (memberId) => {
      const { status, body } = await as(owner).post('/tokens', { name: 'x', memberId });
      return [status, body.error];
    });
    const [none, ...others] = await Promise.all(answers);
    expect(none![0]).toBe(404);
    for (const other of others) expect(other).toEqual(none);
  });
});

describe('POST /tokens 422', () => {
  it.each([
    [{ name: '' }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 7 }, 'name'],
    [{}, 'name'],
    [{ name: 'x', memberId: 'me' }, 'memberId'],
    [{ name: 'x', expiresAt: '2030-01-01' }, 'expiresAt'],
    [{ name: 'x', expiresAt: 1.5 }, 'expiresAt'],
    [{ name: 'x', expiresAt: 1e300 }, 'expiresAt'],
    [{ name: 'x', expiresAt: -1 }, 'expiresAt'],
    [{ name: 'x', expiresAt: Date.now() - 1 }, 'expiresAt'],
    [{ name: 'x', role: 'owner' }, 'role'],
  ])('refuses %j', async (body, path) => {
    const answer = await as(owner).post('/tokens', body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details.map((fault: { path: string }) => fault.path)).toContain(path);
  });
});

describe('GET /tokens 200', () => {
  it('lists the tokens of the workspace, the newest first, without a secret', async () => {
    const { owner: stranger, workspaceId: other } = await test.createWorkspace();
    const boss = await test.createMember(other, 'owner');
    const made = await create({ name: 'listed' }, boss);
    await as(boss).delete(`/tokens/${made.tokenId}`);
    const { status, body, text } = await stranger.get('/tokens?limit=2');
    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 3, limit: 2, offset: 0 });
    expect(body.items).toHaveLength(2);
    expect(body.items[0]).toEqual({
      ...Object.fromEntries(Object.entries(made).filter(([name]) => name !== 'token')),
      revokedAt: expect.any(Number),
    });
    for (const secret of [made.token, sha256(made.token), boss.token, sha256(boss.token)]) {
      expect(text).not.toContain(secret);
    }
    const rest = await stranger.get('/tokens?limit=2&offset=2');
    expect(rest.body.items).toHaveLength(1);
    expect(rest.body.items[0].tokenId).not.toBe(body.items[1].tokenId);
  });
});

describe('GET /tokens 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).get('/tokens')).status).toBe(401);
  });
});

describe('GET /tokens 403', () => {
  it.each<Role>(['viewer', 'operator'])('refuses a %s', async (role) => {
    expect((await as(await test.createMember(workspaceId, role)).get('/tokens')).status).toBe(403);
  });
});

describe('GET /tokens 422', () => {
  it.each(['limit=0', 'limit=101', 'offset=-1', 'all=1'])('refuses %s', async (query) => {
    expect((await as(owner).get(`/tokens?${query}`)).status).toBe(422);
  });
});

describe('DELETE /tokens/{id} 200', () => {
  it('revokes the token, once', async () => {
    const { tokenId, token, ...made } = await create();
    const first = await as(admin).delete(`/tokens/${tokenId}`);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({ tokenId, ...made, revokedAt: expect.any(Number) });
    expect((await as(admin).delete(`/tokens/${tokenId}`)).body).toEqual(first.body);
    expect(await row(tokenId)).toMatchObject({ revoked_at: new Date(first.body.revokedAt) });
    expect(await receipts(tokenId)).toEqual([
      expect.objectContaining({ action: 'token.created' }),
      expect.objectContaining({
        action: 'token.revoked',
        actor: expect.objectContaining({ id: admin.memberId }),
        details: { name: 'ci', hint: token.slice(-4), memberId: owner.memberId },
      }),
    ]);
  });

  it('is seen within a second by this process and by another one over the same database', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'consigliere-second-'));
    const config = loadConfig({
      NODE_ENV: 'test',
      DATA_DIR: dataDir,
      DATABASE_URL: test.database.url,
      LOG_LEVEL: 'silent',
    });
    const second = await createApplication(config, test.database.url);
    try {
      await second.listen(0, '127.0.0.1');
      const address = `http://127.0.0.1:${(second.getHttpServer().address() as AddressInfo).port}`;
      const { tokenId, token } = await create();
      const clients = [holding(token), new Client(address, token)];
      const answersOf = () => Promise.all(clients.map((client) => client.get('/audit-feed/keys')));
      expect((await answersOf()).map(({ status }) => status)).toEqual([200, 200]);
      await as(admin).delete(`/tokens/${tokenId}`);
      const revoked = Date.now();
      const refused = await eventually(
        answersOf,
        (answers) => answers.every(({ status }) => status === 401),
        3,
      );
      expect(Date.now() - revoked).toBeLessThan(1000);
      expect(refused.map(({ body }) => body.reason)).toEqual(['revoked_token', 'revoked_token']);
    } finally {
      await second.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

describe('DELETE /tokens/{id} 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).delete(`/tokens/${newId('tok')}`)).status).toBe(401);
  });
});

describe('DELETE /tokens/{id} 403', () => {
  it.each<Role>(['viewer', 'operator'])('refuses a %s', async (role) => {
    const { tokenId } = await create();
    const { status } = await as(await test.createMember(workspaceId, role)).delete(`/tokens/${tokenId}`);
    expect(status).toBe(403);
    expect(await row(tokenId)).toMatchObject({ revoked_at: null });
  });
});

describe('DELETE /tokens/{id} 404', () => {
  it('cannot tell a token of another workspace from none', async () => {
    const foreign = await test.createMember((await test.createWorkspace()).workspaceId, 'owner');
    const { tokenId } = await create({}, foreign);
    for (const id of [tokenId, newId('tok'), 'nonsense', '%00']) {
      expect((await as(owner).delete(`/tokens/${id}`)).status).toBe(404);
    }
    expect(await row(tokenId)).toMatchObject({ revoked_at: null });
  });
});

describe('POST /tokens/{id}/rotate 201', () => {
  it('puts a new token in the place of the old one, with its name, member and length of life', async () => {
    const { memberId } = await test.createMember(workspaceId, 'operator');
    const old = await create({ name: 'robot', memberId, expiresAt: Date.now() + HOUR_MS });
    const answer = await as(admin).post(`/tokens/${old.tokenId}/rotate`);
    expect(answer.status).toBe(201);
    const made = answer.body;
    expect(made).toEqual({
      ...old,
      tokenId: expect.stringMatching(/^tok_/),
      token: expect.stringMatching(/^cons_/),
      hint: made.token.slice(-4),
      createdAt: expect.any(Number),
      expiresAt: made.createdAt + (old.expiresAt - old.createdAt),
    });
    expect(made.tokenId).not.toBe(old.tokenId);
    expect(made.token).not.toBe(old.token);
    expect(await row(old.tokenId)).toMatchObject({ revoked_at: new Date(made.createdAt) });
    expect(await row(made.tokenId)).toMatchObject({ token_hash: sha256(made.token), revoked_at: null });
    expect((await holding(made.token).get('/profile')).body.operator.memberId).toBe(memberId);
    await eventually(
      () => holding(old.token).get('/profile'),
      ({ status }) => status === 401,
      2,
    );
    expect((await receipts(old.tokenId)).at(-1)).toMatchObject({
      action: 'token.rotated',
      actor: { id: admin.memberId },
      details: {
        name: 'robot',
        memberId,
        newTokenId: made.tokenId,
        newHint: made.hint,
        expiresAt: made.expiresAt,
      },
    });
    expect(await everythingStored()).not.toContain(made.token);
  });

  it('gives one new token to two who rotate at the same time', async () => {
    const { tokenId } = await create({ name: 'raced' });
    const answers = await Promise.all([
      as(owner).post(`/tokens/${tokenId}/rotate`),
      as(owner).post(`/tokens/${tokenId}/rotate`),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const standing = await test.rows(`select 1 from tokens where name = 'raced' and revoked_at is null`);
    expect(standing).toHaveLength(1);
  });

  it('lets a caller rotate the token of the call itself', async () => {
    const own = await create({ name: 'own' });
    const answer = await holding(own.token).post(`/tokens/${own.tokenId}/rotate`);
    expect((await holding(answer.body.token).get('/profile')).status).toBe(200);
  });
});

describe('POST /tokens/{id}/rotate 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).post(`/tokens/${newId('tok')}/rotate`)).status).toBe(401);
  });
});

describe('POST /tokens/{id}/rotate 403', () => {
  it.each<Role>(['viewer', 'operator'])('refuses a %s', async (role) => {
    const { tokenId } = await create();
    const member = await test.createMember(workspaceId, role);
    expect((await as(member).post(`/tokens/${tokenId}/rotate`)).status).toBe(403);
  });

  it('refuses an admin the token of an owner, which stays as it is', async () => {
    const { tokenId, token } = await create();
    expect((await as(admin).post(`/tokens/${tokenId}/rotate`)).status).toBe(403);
    expect((await holding(token).get('/profile')).status).toBe(200);
    expect(await row(tokenId)).toMatchObject({ revoked_at: null });
  });
});

describe('POST /tokens/{id}/rotate 404', () => {
  it('cannot tell a token of another workspace, or of a removed member, from none', async () => {
    const foreign = await create(
      {},
      await test.createMember((await test.createWorkspace()).workspaceId, 'owner'),
    );
    const removed = await test.createMember(workspaceId, 'viewer');
    const orphan = await create({ memberId: removed.memberId });
    await test.rows(`update members set status = 'removed' where member_id = $1`, [removed.memberId]);
    for (const id of [foreign.tokenId, orphan.tokenId, newId('tok'), 'nonsense']) {
      expect((await as(owner).post(`/tokens/${id}/rotate`)).status).toBe(404);
    }
  });
});

describe('POST /tokens/{id}/rotate 409', () => {
  it('leaves a revoked token revoked', async () => {
    const { tokenId } = await create();
    await as(owner).delete(`/tokens/${tokenId}`);
    const { status, body } = await as(owner).post(`/tokens/${tokenId}/rotate`);
    expect([status, body.error.code]).toEqual([409, 'INVALID_TRANSITION']);
  });
});
