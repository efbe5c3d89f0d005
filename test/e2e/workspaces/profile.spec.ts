import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';

let test: TestApp;
let member: TestMember;
beforeAll(async () => {
  test = await startTestApp();
  member = await test.createMember(test.workspaceId, 'operator');
});
afterAll(() => test.close());

describe('GET /profile 200', () => {
  it('answers who calls and how far the workspace acts by itself', async () => {
    const quietHours = { from: '22:00', to: '07:00' };
    await test.owner.put('/settings', { presence: 'away', quietHours });
    const [user] = await test.rows<{ email: string; display_name: string }>(
      'select email, display_name from users join members using (user_id) where member_id = $1',
      [member.memberId],
    );
    const { status, body } = await member.get('/profile');
    expect(status).toBe(200);
    expect(body).toEqual({
      operator: {
        memberId: member.memberId,
        handle: user!.display_name,
        email: user!.email,
        displayName: user!.display_name,
        role: 'operator',
        tier: 'enterprise',
      },
      autonomy: { mode: 'guardrailed', presence: 'away', quietHours },
      packs: [],
      tier: 'enterprise',
      devices: [],
    });
  });
});

describe('GET /profile 200 of a member with devices', () => {
  it('shows the own devices, the one that was here last first, and none of others', async () => {
    const colleague = await test.createMember(test.workspaceId, 'operator');
    test.clock.stop();
    const first = test.clock.now();
    await member.post('/api/local/hydrate', { deviceId: 'phone' });
    await colleague.post('/api/local/hydrate', { deviceId: 'tablet' });
    test.clock.advance(1_000);
    await member.post('/api/local/hydrate', { deviceId: 'laptop' });
    const { body } = await member.get('/profile');
    expect(body.devices).toEqual([
      { deviceId: 'laptop', firstSeenAt: first + 1_000, lastSeenAt: first + 1_000 },
      { deviceId: 'phone', firstSeenAt: first, lastSeenAt: first },
    ]);
    test.clock.goOn();
  });

  it('shows the tier of the licence that is installed', async () => {
    const { owner, workspaceId } = await test.createWorkspace('free');
    expect((await owner.get('/profile')).body).toMatchObject({ tier: 'free', operator: { tier: 'free' } });
    await test.rows(`update workspaces set tier = 'pro' where workspace_id = $1`, [workspaceId]);
    expect((await owner.get('/profile')).body).toMatchObject({ tier: 'pro', operator: { tier: 'pro' } });
  });
});

describe('GET /profile 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).get('/profile')).status).toBe(401);
  });
});

describe('GET /profile 429', () => {
  it('takes 20 calls a minute of one address', async () => {
    const client = new Client(test.url, member.token);
    const statuses = new Set<number>();
    for (let call = 0; call < 42; call++) statuses.add((await client.get('/profile')).status);
    expect([...statuses]).toEqual([200, 429]);
    expect((await client.get('/profile')).headers.get('x-ratelimit-limit')).toBe('20');
  });
});
