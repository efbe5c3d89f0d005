import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplication } from '../../../src/application.js';
import type { Role } from '../../../src/platform/auth/caller.js';
import { loadConfig } from '../../../src/platform/config/config.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { eventually } from '../../support/test-app.js';
import { TokenDesk } from './token-desk.js';

let desk: TokenDesk;
beforeAll(async () => {
  desk = await TokenDesk.open();
});
afterAll(() => desk.test.close());

describe('DELETE /tokens/{id} 200', () => {
  it('revokes the token, once', async () => {
    const { tokenId, token, ...made } = await desk.create();
    const first = await desk.as(desk.admin).delete(`/tokens/${tokenId}`);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({ tokenId, ...made, revokedAt: expect.any(Number) });
    expect((await desk.as(desk.admin).delete(`/tokens/${tokenId}`)).body).toEqual(first.body);
    expect(await desk.row(tokenId)).toMatchObject({ revoked_at: new Date(first.body.revokedAt) });
    expect(await desk.receipts(tokenId)).toEqual([
      expect.objectContaining({ action: 'token.created' }),
      expect.objectContaining({
        action: 'token.revoked',
        actor: expect.objectContaining({ id: desk.admin.memberId }),
        details: { name: 'ci', hint: token.slice(-4), memberId: desk.owner.memberId },
      }),
    ]);
  });

  it('is seen by this process and by another one over the same database', async () => {
    const config = loadConfig({
      NODE_ENV: 'test',
      DATA_DIR: desk.test.dataDir,
      DATABASE_URL: desk.test.database.url,
      LOG_LEVEL: 'silent',
    });
    const second = await createApplication(config, desk.test.database.url);
    try {
      await second.listen(0, '127.0.0.1');
      const address = `http://127.0.0.1:${(second.getHttpServer().address() as AddressInfo).port}`;
      const { tokenId, token } = await desk.create();
      const clients = [desk.as({ token }), new Client(address, token)];
      const answersOf = () => Promise.all(clients.map((client) => client.get('/audit-feed/keys')));
      expect((await answersOf()).map(({ status }) => status)).toEqual([200, 200]);
      await desk.as(desk.admin).delete(`/tokens/${tokenId}`);
      const refused = await eventually(
        answersOf,
        (answers) => answers.every(({ status }) => status === 401),
        3,
      );
      expect(refused.map(({ body }) => body.reason)).toEqual(['revoked_token', 'revoked_token']);
    } finally {
      await second.close();
    }
  });
});

describe('DELETE /tokens/{id} 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(desk.test.url, undefined).delete(`/tokens/${newId('tok')}`)).status).toBe(401);
  });
});

describe('DELETE /tokens/{id} 403', () => {
  it.each<Role>(['viewer', 'operator'])('refuses a %s', async (role) => {
    const { tokenId } = await desk.create();
    const { status } = await desk
      .as(await desk.test.createMember(desk.workspaceId, role))
      .delete(`/tokens/${tokenId}`);
    expect(status).toBe(403);
    expect(await desk.row(tokenId)).toMatchObject({ revoked_at: null });
  });
});

describe('DELETE /tokens/{id} 404', () => {
  it('cannot tell a token of another workspace from none', async () => {
    const foreign = await desk.test.createMember((await desk.test.createWorkspace()).workspaceId, 'owner');
    const { tokenId } = await desk.create({}, foreign);
    for (const id of [tokenId, newId('tok'), 'nonsense', '%00']) {
      expect((await desk.as(desk.owner).delete(`/tokens/${id}`)).status).toBe(404);
    }
    expect(await desk.row(tokenId)).toMatchObject({ revoked_at: null });
  });
});
