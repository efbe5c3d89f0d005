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
