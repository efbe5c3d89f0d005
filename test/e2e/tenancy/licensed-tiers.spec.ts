import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminClient } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

/** Where licences are issued: the public key of somebody who issues them. */
const LICENCE_PUBLIC_KEY = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';

let test: TestApp;
let first: AdminClient;
beforeAll(async () => {
  test = await startTestApp({ LICENCE_PUBLIC_KEY, BOOTSTRAP_TIER: 'free' });
  const [owner] = await test.rows<{ member_id: string }>(
    'select member_id from members where workspace_id = $1',
    [test.workspaceId],
  );
  first = await test.signIn(owner!.member_id);
  // A licence of the first workspace gave it this.
  await test.rows(`update workspaces set tier = 'enterprise' where workspace_id = $1`, [test.workspaceId]);
});
afterAll(() => test.close());

const NEW = { name: 'Northwind Retail', ownerEmail: 'ines@northwind.example' };

describe('POST /api/admin/workspaces where licences are issued', () => {
  it('422 takes no tier, and makes nothing', async () => {
    const answer = await first.post('/workspaces', { ...NEW, tier: 'enterprise' });
    expect(answer.status).toBe(422);
    expect(answer.body.error.details).toMatchObject([{ path: 'tier', rule: 'licensed' }]);
    expect(await test.rows('select 1 from workspaces where name = $1', [NEW.name])).toEqual([]);
  });

  it('201 begins with the tier of whoever has no licence, not with that of the first workspace', async () => {
    const answer = await first.post('/workspaces', NEW);
    expect(answer.status, answer.text).toBe(201);
    expect(await test.rows('select tier from workspaces where name = $1', [NEW.name])).toEqual([
      { tier: 'free' },
    ]);
  });
});
