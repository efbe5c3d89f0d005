import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/platform/auth/caller.js';
import { sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { isOperatorToken } from '../../../src/platform/kernel/operator-token.js';
import { Client } from '../../support/client.js';
import { HOUR_MS, TokenDesk } from './token-desk.js';

let desk: TokenDesk;
beforeAll(async () => {
  desk = await TokenDesk.open();
});
afterAll(() => desk.test.close());

describe('POST /tokens 201', () => {
  it('answers a token that works, and stores its SHA-256 with a receipt', async () => {
    const expiresAt = Date.now() + HOUR_MS;
    const answer = await desk.as(desk.owner).post('/tokens', { name: 'Nightly – ünïcode', expiresAt });
    expect(answer.status).toBe(201);
    const { tokenId, token } = answer.body;
    expect(answer.body).toEqual({
      tokenId: expect.stringMatching(/^tok_[0-9a-z]{26}$/),
      name: 'Nightly – ünïcode',
      token: expect.stringMatching(/^cons_/),
      memberId: desk.owner.memberId,
      memberName: expect.any(String),
      hint: token.slice(-4),
      madeBy: [],
      createdAt: expect.any(Number),
      lastUsedAt: null,
      expiresAt,
      revokedAt: null,
      scopes: null,
      agent: null,
      tools: null,
      rotatedFrom: null,
      pausedAt: null,
      pausedBy: null,
    });
    expect(isOperatorToken(token)).toBe(true);
    expect((await desk.as({ token }).get('/profile')).body.operator.memberId).toBe(desk.owner.memberId);
    expect(await desk.row(tokenId)).toEqual({
      token_id: tokenId,
      workspace_id: desk.workspaceId,
      member_id: desk.owner.memberId,
      name: 'Nightly – ünïcode',
      token_hash: sha256(token),
      hint: token.slice(-4),
      made_by: [],
      session_id: null,
      created_at: new Date(answer.body.createdAt),
      last_used_at: null,
      expires_at: new Date(expiresAt),
      revoked_at: null,
      scopes: null,
      agent_name: null,
      agent_name_key: null,
      tools: null,
      root_id: null,
      rotated_from: null,
      paused_at: null,
      paused_by: null,
    });
    expect(await desk.receipts(tokenId)).toEqual([
      expect.objectContaining({
        action: 'token.created',
        actor: expect.objectContaining({ type: 'member', id: desk.owner.memberId, via: 'api' }),
        entity: { type: 'token', id: tokenId },
        details: {
          name: 'Nightly – ünïcode',
          hint: token.slice(-4),
          memberId: desk.owner.memberId,
          expiresAt,
        },
        requestId: answer.headers.get('x-request-id'),
      }),
    ]);
    expect(await desk.everythingStored()).not.toContain(token);
  });

  it.each<[Role, Role]>([
    ['admin', 'viewer'],
    ['admin', 'operator'],
    ['admin', 'admin'],
    ['owner', 'admin'],
    ['owner', 'owner'],
  ])('lets %s make one for a member who is %s', async (by, role) => {
    const { memberId } = await desk.test.createMember(desk.workspaceId, role);
    const { token } = await desk.create({ memberId }, by === 'admin' ? desk.admin : desk.owner);
    expect((await desk.as({ token }).get('/profile')).body.operator).toMatchObject({ memberId, role });
  });

  it('answers a repeated Idempotency-Key with the first token and makes no second', async () => {
    const headers = { 'Idempotency-Key': newId('req') };
    const first = await desk.as(desk.owner).post('/tokens', { name: 'once' }, headers);
    const again = await desk.as(desk.owner).post('/tokens', { name: 'once' }, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.text).toBe(first.text);
    expect(await desk.test.rows(`select 1 from tokens where name = 'once'`)).toHaveLength(1);
    const kept = await desk.test.rows<{ body: string }>('select body from idempotency_keys where key = $1', [
      headers['Idempotency-Key'],
    ]);
    expect(kept[0]!.body).toMatch(/^v1\./);
    expect(kept[0]!.body).not.toContain('cons_');
  });
});

describe('POST /tokens 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(desk.test.url, undefined).post('/tokens', { name: 'x' })).status).toBe(401);
  });
});

describe('POST /tokens 403', () => {
  it.each<Role>(['viewer', 'operator'])('refuses a %s', async (role) => {
    const { status, body } = await desk
      .as(await desk.test.createMember(desk.workspaceId, role))
      .post('/tokens', {
        name: 'x',
      });
    expect(status).toBe(403);
    expect(body.error.details).toEqual({ requiredRoles: ['admin', 'owner'] });
  });

  it('refuses an admin a token of an owner', async () => {
    const before = await desk.test.rows('select 1 from tokens');
    const { status, body } = await desk
      .as(desk.admin)
      .post('/tokens', { name: 'x', memberId: desk.owner.memberId });
    expect(status).toBe(403);
    expect(body.error.details).toEqual({ requiredRoles: ['owner'] });
    expect(await desk.test.rows('select 1 from tokens')).toHaveLength(before.length);
  });
});

describe('POST /tokens 404', () => {
  it('cannot tell a member of another workspace, or one that was removed, from none', async () => {
    const removed = await desk.test.createMember(desk.workspaceId, 'viewer');
    await desk.test.rows(`update members set status = 'removed' where member_id = $1`, [removed.memberId]);
    const foreign = await desk.test.createMember((await desk.test.createWorkspace()).workspaceId, 'viewer');
    const answers = [newId('mem'), removed.memberId, foreign.memberId].map(async (memberId) => {
      const { status, body } = await desk.as(desk.owner).post('/tokens', { name: 'x', memberId });
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
    [{ name: 'x', expiresAt: 0 }, 'expiresAt'],
    [{ name: 'x', expiresAt: Date.now() - 1 }, 'expiresAt'],
    [{ name: 'x', role: 'owner' }, 'role'],
  ])('refuses %j', async (body, path) => {
    const answer = await desk.as(desk.owner).post('/tokens', body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details.map((fault: { path: string }) => fault.path)).toContain(path);
  });
});
