import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ROLES, type Role } from '../../../src/platform/auth/caller.js';
import type { AdminClient } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

let test: TestApp;
let workspaceId: string;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
});
beforeEach(async () => {
  ({ workspaceId } = await test.createWorkspace('pro'));
});
afterAll(() => test.close());

const as = async (role: Role): Promise<AdminClient> =>
  test.signIn((await test.createMember(workspaceId, role)).memberId);

const rename = (client: AdminClient, body: unknown) => client.send('PATCH', '/workspace', body);

const nameInDatabase = async () =>
  (await test.rows('select name from workspaces where workspace_id = $1', [workspaceId]))[0]!['name'];

const receipts = async () =>
  (
    await test.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and action = 'workspace.renamed' order by seq`,
      [workspaceId],
    )
  ).map(({ body }) => JSON.parse(body) as { actor: object; details: unknown; summary: string });

describe('GET /api/admin/workspace 200', () => {
  it('answers its name, its tier and what that allows, to every role', async () => {
    const [row] = await test.rows<{ created_at: Date }>(
      'select created_at from workspaces where workspace_id = $1',
      [workspaceId],
    );
    for (const role of ROLES) {
      const { status, body } = await (await as(role)).get('/workspace');
      expect([status, body]).toEqual([
        200,
        {
          workspaceId,
          name: `Workspace ${workspaceId.slice(-4)}`,
          tier: 'pro',
          requestsPerMinute: 120,
          requestsPerDay: 10_000,
          leftThisMinute: expect.any(Number),
          leftToday: expect.any(Number),
          isFirst: false,
          createdAt: row!.created_at.getTime(),
        },
      ]);
    }
  });

  it('has null where the tier is unlimited', async () => {
    await test.rows(`update workspaces set tier = 'enterprise' where workspace_id = $1`, [workspaceId]);
    const { body } = await (await as('viewer')).get('/workspace');
    expect(body).toMatchObject({
      tier: 'enterprise',
      requestsPerMinute: null,
      requestsPerDay: null,
      leftThisMinute: null,
      leftToday: null,
    });
  });

  it('says how much of the tier is left, after this request', async () => {
    test.clock.stopAtMinute();
    const viewer = await as('viewer');
    const first = (await viewer.get('/workspace')).body;
    const second = (await viewer.get('/workspace')).body;
    expect([first.leftThisMinute, second.leftThisMinute]).toEqual([119, 118]);
    expect([first.leftToday, second.leftToday]).toEqual([9_999, 9_998]);
    test.clock.goOn();
  });

  it('says which workspace is the first', async () => {
    expect((await (await test.signIn()).get('/workspace')).body.isFirst).toBe(true);
  });
});

describe('PATCH /api/admin/workspace 200', () => {
  it('renames it, with a receipt that keeps the old name', async () => {
    const before = (await nameInDatabase()) as string;
    const owner = await as('owner');
    const { status, body } = await rename(owner, { name: '  Northwind   Traders ' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ workspaceId, name: 'Northwind Traders', tier: 'pro' });
    expect(await nameInDatabase()).toBe('Northwind Traders');
    expect(await receipts()).toMatchObject([
      { actor: { via: 'dashboard' }, details: { old: before, new: 'Northwind Traders' } },
    ]);
    expect((await owner.get('/workspace')).body.name).toBe('Northwind Traders');
  });

  it('leaves no receipt for the name that it has', async () => {
    const owner = await as('owner');
    await rename(owner, { name: 'Northwind' });
    expect((await rename(owner, { name: 'Northwind' })).status).toBe(200);
    expect(await receipts()).toHaveLength(1);
  });

  it('may give two workspaces one name: nobody learns of another workspace by that', async () => {
    const other = await test.createWorkspace();
    await test.rows(`update workspaces set name = 'Northwind' where workspace_id = $1`, [other.workspaceId]);
    expect((await rename(await as('owner'), { name: 'Northwind' })).status).toBe(200);
  });

  it('counts characters as people do', async () => {
    const name = '👩‍👩‍👧‍👦'.repeat(40) + 'x'.repeat(20);
    expect((await rename(await as('owner'), { name })).body.name).toBe(name);
  });
});

describe('PATCH /api/admin/workspace 403', () => {
  it('is for every role but the owner, and changes nothing', async () => {
    const before = await nameInDatabase();
    for (const role of ['viewer', 'operator', 'admin'] as const) {
      expect((await rename(await as(role), { name: 'Mine' })).status).toBe(403);
    }
    expect([await nameInDatabase(), await receipts()]).toEqual([before, []]);
  });
});

describe('PATCH /api/admin/workspace 422', () => {
  it.each<[string, unknown]>([
    ['no name', {}],
    ['null', { name: null }],
    ['a number', { name: 7 }],
    ['nothing but spaces', { name: '   ' }],
    ['a line break', { name: 'North\nwind' }],
    ['text that turns around', { name: 'North\u202ewind' }],
    ['letters of two alphabets in one word', { name: 'Nоrthwind' }],
    ['61 characters', { name: 'x'.repeat(61) }],
    ['a tier', { name: 'Northwind', tier: 'enterprise' }],
  ])('names the fault and changes nothing: %s', async (_case, body) => {
    const before = await nameInDatabase();
    const answer = await rename(await as('owner'), body);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.error.details).toHaveLength(1);
    expect([await nameInDatabase(), await receipts()]).toEqual([before, []]);
  });
});
