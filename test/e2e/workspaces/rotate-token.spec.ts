import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/platform/auth/caller.js';
import { sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { eventually } from '../../support/test-app.js';
import { HOUR_MS, TokenDesk } from './token-desk.js';

let desk: TokenDesk;
beforeAll(async () => {
  desk = await TokenDesk.open();
});
afterAll(() => desk.test.close());

describe('POST /tokens/{id}/rotate 201', () => {
  it('puts a new token in the place of the old one, with its name, member and length of life', async () => {
    const { memberId } = await desk.test.createMember(desk.workspaceId, 'operator');
    const old = await desk.create({ name: 'robot', memberId, expiresAt: Date.now() + HOUR_MS });
    const answer = await desk.as(desk.admin).post(`/tokens/${old.tokenId}/rotate`);
    expect(answer.status).toBe(201);
    const made = answer.body;
    expect(made).toEqual({
      ...old,
      tokenId: expect.stringMatching(/^tok_/),
      token: expect.stringMatching(/^cons_/),
      hint: made.token.slice(-4),
      madeBy: [expect.stringMatching(/^mem_/)],
      createdAt: expect.any(Number),
      rotatedFrom: old.tokenId,
      expiresAt: made.createdAt + (old.expiresAt! - old.createdAt),
    });
    expect(made.tokenId).not.toBe(old.tokenId);
    expect(made.token).not.toBe(old.token);
    expect(await desk.row(old.tokenId)).toMatchObject({ revoked_at: new Date(made.createdAt) });
    expect(await desk.row(made.tokenId)).toMatchObject({ token_hash: sha256(made.token), revoked_at: null });
    expect((await desk.as(made).get('/profile')).body.operator.memberId).toBe(memberId);
    await eventually(
      () => desk.as(old).get('/profile'),
      ({ status }) => status === 401,
      2,
    );
    expect((await desk.receipts(old.tokenId)).at(-1)).toMatchObject({
      action: 'token.rotated',
      actor: { id: desk.admin.memberId },
      details: {
        name: 'robot',
        memberId,
        newTokenId: made.tokenId,
        newHint: made.hint,
        expiresAt: made.expiresAt,
      },
    });
    expect(await desk.everythingStored()).not.toContain(made.token);
  });

  it('gives one new token to two who rotate at the same time', async () => {
    const { tokenId } = await desk.create({ name: 'raced' });
    const answers = await Promise.all([
      desk.as(desk.owner).post(`/tokens/${tokenId}/rotate`),
      desk.as(desk.owner).post(`/tokens/${tokenId}/rotate`),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const standing = await desk.test.rows(`select 1 from tokens where name = 'raced' and revoked_at is null`);
    expect(standing).toHaveLength(1);
  });

  it('lets a caller rotate the token of the call itself', async () => {
    const own = await desk.create({ name: 'own' });
    const answer = await desk.as(own).post(`/tokens/${own.tokenId}/rotate`);
    expect((await desk.as(answer.body).get('/profile')).status).toBe(200);
  });
});

describe('POST /tokens/{id}/rotate 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(desk.test.url, undefined).post(`/tokens/${newId('tok')}/rotate`)).status).toBe(
      401,
    );
  });
});

describe('POST /tokens/{id}/rotate 403', () => {
  it.each<Role>(['viewer', 'operator'])('refuses a %s', async (role) => {
    const { tokenId } = await desk.create();
    const member = await desk.test.createMember(desk.workspaceId, role);
    expect((await desk.as(member).post(`/tokens/${tokenId}/rotate`)).status).toBe(403);
  });

  it('refuses an admin the token of an owner, which stays as it is', async () => {
    const { tokenId, token } = await desk.create();
    expect((await desk.as(desk.admin).post(`/tokens/${tokenId}/rotate`)).status).toBe(403);
    expect((await desk.as({ token }).get('/profile')).status).toBe(200);
    expect(await desk.row(tokenId)).toMatchObject({ revoked_at: null });
  });
});

describe('POST /tokens/{id}/rotate 404', () => {
  it('cannot tell a token of another workspace, or of a removed member, from none', async () => {
    const foreign = await desk.create(
      {},
      await desk.test.createMember((await desk.test.createWorkspace()).workspaceId, 'owner'),
    );
    const removed = await desk.test.createMember(desk.workspaceId, 'viewer');
    const orphan = await desk.create({ memberId: removed.memberId });
    await desk.test.rows(`update members set status = 'removed' where member_id = $1`, [removed.memberId]);
    for (const id of [foreign.tokenId, orphan.tokenId, newId('tok'), 'nonsense']) {
      expect((await desk.as(desk.owner).post(`/tokens/${id}/rotate`)).status).toBe(404);
    }
  });
});

describe('POST /tokens/{id}/rotate 409', () => {
  it('leaves a revoked token revoked', async () => {
    const { tokenId } = await desk.create();
    await desk.as(desk.owner).delete(`/tokens/${tokenId}`);
    const { status, body } = await desk.as(desk.owner).post(`/tokens/${tokenId}/rotate`);
    expect([status, body.error.code]).toEqual([409, 'INVALID_TRANSITION']);
  });
});
