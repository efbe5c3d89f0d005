import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/platform/auth/caller.js';
import { sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { Client } from '../../support/client.js';
import { TokenDesk } from './token-desk.js';

let desk: TokenDesk;
beforeAll(async () => {
  desk = await TokenDesk.open();
});
afterAll(() => desk.test.close());

describe('GET /tokens 200', () => {
  it('lists the tokens of the workspace, the newest first, without a secret', async () => {
    const { owner: stranger, workspaceId: other } = await desk.test.createWorkspace();
    const boss = await desk.test.createMember(other, 'owner');
    const made = await desk.create({ name: 'listed' }, boss);
    await desk.as(boss).delete(`/tokens/${made.tokenId}`);
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
    expect((await new Client(desk.test.url, undefined).get('/tokens')).status).toBe(401);
  });
});

describe('GET /tokens 403', () => {
  it.each<Role>(['viewer', 'operator'])('refuses a %s', async (role) => {
    expect((await desk.as(await desk.test.createMember(desk.workspaceId, role)).get('/tokens')).status).toBe(
      403,
    );
  });
});

describe('GET /tokens 422', () => {
  it.each(['limit=0', 'limit=101', 'offset=-1', 'all=1'])('refuses %s', async (query) => {
    expect((await desk.as(desk.owner).get(`/tokens?${query}`)).status).toBe(422);
  });
});
