import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { recover } from './recover.js';

describe('npm run recover with DATABASE_URL', () => {
  let test: TestApp;
  let environment: Record<string, string>;
  beforeAll(async () => {
    test = await startTestApp();
    environment = { DATABASE_URL: test.database.url, DATA_DIR: test.dataDir };
  });
  afterAll(() => test.close());

  it('opens the first workspace again when its owner has revoked the last token', async () => {
    const { items } = (await test.owner.get('/tokens')).body;
    for (const { tokenId } of items) await test.owner.delete(`/tokens/${tokenId}`);
    const { code, stdout, token } = await recover(environment);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^A new operator token for Owner, owner of wks_\w+\. It is shown once:\n {2}cons_\w{49}\nOther tokens stay valid\. Revoke a lost one: DELETE .*\n$/,
    );
    const owner = new Client(test.url, token);
    expect((await owner.get('/bootstrap')).body).toMatchObject({ role: 'owner' });
    const [listed] = (await owner.get('/tokens')).body.items;
    expect(listed).toMatchObject({ name: 'recovered on the server', madeBy: [], revokedAt: null });

    const [receipt] = (await owner.get('/audit-feed?action=token.recovered')).body.items;
    expect(receipt).toMatchObject({
      actor: { type: 'system', via: 'cli' },
      entity: { type: 'token', id: listed.tokenId },
      summary: 'A new token for the owner Owner was created on the server.',
    });
    expect(JSON.stringify(receipt)).not.toContain(token);
    expect((await owner.get('/audit-feed/verify')).body).toMatchObject({ ok: true, faults: [] });
  });

  it('makes one for another workspace by its id', async () => {
    const { workspaceId } = await test.createWorkspace();
    const { token } = await recover(environment, workspaceId);
    expect((await new Client(test.url, token).get('/bootstrap')).body).toMatchObject({
      workspace: { workspaceId },
    });
  });

  it('says so when there is no such workspace, and changes nothing', async () => {
    const count = async () => (await test.rows('select count(*) from tokens'))[0];
    const before = await count();
    const workspaceId = newId('wks');
    expect(await recover(environment, workspaceId)).toEqual({
      code: 1,
      stderr: `There is no workspace ${workspaceId} with an active owner.\n`,
    });
    expect(await count()).toEqual(before);
  });
});
