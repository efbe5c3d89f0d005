import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AdminClient, Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';

const PUBLIC_URL = 'https://office.northwind.example';

let test: TestApp;
let admin: AdminClient;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
  admin = await test.signIn();
});
afterAll(() => test.close());

const receipts = async (action: string) =>
  (await admin.get(`/audit-feed?action=${action}`)).body.items as Record<string, any>[];

describe('a route of both areas', () => {
  it('is the same act: the same row, and a receipt that says it came from the dashboard', async () => {
    const made = await admin.post('/teams', { name: 'Marketing' });
    expect(made.status, made.text).toBe(201);
    const { body } = await test.owner.get('/teams');
    expect(body.items).toEqual([made.body]);
    expect(await receipts('team.created')).toMatchObject([
      { entity: { id: made.body.teamId }, actor: { type: 'member', via: 'dashboard' } },
    ]);
  });

  it('shares its limit: what was asked for below one path counts below the other', async () => {
    test.clock.stopAtMinute();
    onTestFinished(() => test.clock.goOn());
    const { address } = admin;
    const remaining = async (client: Client, path: string) =>
      Number((await client.get(path, { 'X-Forwarded-For': address })).headers.get('x-ratelimit-remaining'));
    const before = await remaining(admin, '/members');
    expect(await remaining(test.owner, '/members')).toBe(before - 1);
  });

  it('does not take a replay from one to the other: the same key below another path is another request', async () => {
    const key = { 'Idempotency-Key': 'one-token' };
    expect((await admin.post('/tokens', { name: 'Ledger' }, key)).status).toBe(201);
    const again = await test.owner.post('/tokens', { name: 'Ledger' }, key);
    expect(again.status).toBe(422);
    expect(again.body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
    const replayed = await admin.post('/tokens', { name: 'Ledger' }, key);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
  });

  it('leaves out the acceptance of an invite, which needs no session', async () => {
    const body = { token: 'x', displayName: 'Jo Lind', password: 'correct horse battery' };
    const answer = await admin.post('/invites/accept', body);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('DELETE');
  });
});

describe('the kill switch, which is outside of the admin area', () => {
  /** As the dashboard reaches it: with an operator token that the session makes. */
  async function kill(session: AdminClient, headers: Record<string, string> = {}) {
    const { status, body, text } = await session.post('/operator-token', undefined, headers);
    expect(status, text).toBe(201);
    const dashboard = new Client(test.url, body.token);
    return dashboard.post('/guardian/kill-switch', { reason: 'A wrong price list.' });
  }

  it('takes the operator token of a session, and the receipt says that it came from the dashboard', async () => {
    expect((await kill(admin)).body).toMatchObject({ mode: 'killed', changed: true });
    expect((await test.owner.get('/guardian')).body).toMatchObject({
      mode: 'killed',
      killedBy: { via: 'dashboard' },
    });
    expect((await test.owner.post('/guardian/revert')).status).toBe(200);
  });

  it('can be used by somebody with a cookie alone when the tier is used up', async () => {
    test.clock.stopAtMinute();
    onTestFinished(() => test.clock.goOn());
    const { workspaceId, owner } = await test.createWorkspace('free');
    const [row] = await test.rows<{ member_id: string }>(
      'select member_id from members where workspace_id = $1',
      [workspaceId],
    );
    const signedIn = await test.signIn(row!.member_id);
    const another = await test.signIn(row!.member_id);
    // Each call comes from another address, so that it is the tier that refuses.
    const from = () => ({ 'X-Forwarded-For': new Client(test.url, undefined).address });
    await eventually(
      () => owner.get('/guardian', from()),
      ({ status }) => status === 429,
    );
    expect((await signedIn.get('/settings', from())).status).toBe(429);
    const { status, body } = await signedIn.get('/session', from());
    expect(status).toBe(200);
    expect((await kill(signedIn, { ...from(), 'X-CSRF-Token': body.csrfToken })).body.mode).toBe('killed');
    const { items } = (await signedIn.get('/sessions', from())).body;
    expect(items).toHaveLength(2);
    const { sessionId } = items.find(({ current }: { current: boolean }) => !current);
    expect((await signedIn.delete(`/sessions/${sessionId}`, from())).status).toBe(200);
    expect((await signedIn.delete('/session', from())).status).toBe(200);
    test.clock.advance(1000);
    expect((await another.get('/session')).body.reason).toBe('ended_session');
  });
});

describe('the answers', () => {
  it.each([
    ['GET', '/session', 200],
    ['GET', '/tokens', 200],
    ['POST', '/tokens', 422],
    ['GET', '/partner-secret', 200],
  ])('of %s %s are kept by nobody, and depend on the cookie', async (method, path, status) => {
    const answer = await admin.send(method, path, method === 'GET' ? undefined : {});
    expect(answer.status, answer.text).toBe(status);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('vary')).toBe('X-Service-API-Version, Cookie');
  });

  it('let no page of another site read them', async () => {
    const origin = { Origin: 'https://evil.example' };
    const read = await admin.get('/session', origin);
    expect(read.status).toBe(200);
    const asked = await admin.send('OPTIONS', '/tokens', undefined, {
      ...origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'content-type,x-csrf-token',
    });
    expect(asked.status).toBe(405);
    for (const { headers } of [read, asked]) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
  });
});

describe('a change that a page of another site asks for', () => {
  const foreign: [string, Record<string, string>][] = [
    ['another origin', { Origin: 'https://evil.example' }],
    ['an origin that is hidden', { Origin: 'null' }],
    ['the same host by another scheme', { Origin: 'https://127.0.0.1' }],
    ['the same host at another port', { Origin: 'http://127.0.0.1:1' }],
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['another host of the same site', { 'Sec-Fetch-Site': 'same-site' }],
  ];

  it.each(foreign)('is a 403, whatever cookie and CSRF token come with it: %s', async (_who, headers) => {
    const before = await test.rows('select count(*) from tokens');
    const answer = await admin.post('/tokens', { name: 'Stolen' }, headers);
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({ reason: 'foreign_origin', error: { code: 'FORBIDDEN' } });
    expect(await test.rows('select count(*) from tokens')).toEqual(before);
  });

  it.each(foreign)('is a 403 to a sign-in too: %s', async (_who, headers) => {
    const body = { email: 'mira@northwind.example', password: 'correct horse battery staple' };
    const answer = await new Client(test.url, undefined).post('/api/admin/session', body, headers);
    expect(answer.status).toBe(403);
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  it('is none of a page of ours, of what a person typed, and of a program that is no browser', async () => {
    const ours: Record<string, string>[] = [
      { Origin: test.url, 'Sec-Fetch-Site': 'same-origin' },
      { 'Sec-Fetch-Site': 'none' },
      {},
    ];
    for (const headers of ours) {
      expect((await admin.post('/operator-token', undefined, headers)).status).toBe(201);
    }
  });

  it('is none at PUBLIC_URL, nor at the address that a trusted proxy names', async () => {
    const behind = await startTestApp({ PROCESS_ROLE: 'api', PUBLIC_URL });
    try {
      const url = await behind.app.getUrl();
      const { secret } = await behind.signIn();
      const client = new AdminClient(url, secret);
      const headers = { Cookie: `__Host-consigliere_session=${secret}` };
      const change = (more: Record<string, string>) =>
        client.post('/operator-token', undefined, { ...headers, ...more });
      expect((await change({ Origin: PUBLIC_URL })).status).toBe(201);
      const proxied = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'desk.northwind.example' };
      expect((await change({ Origin: 'https://desk.northwind.example', ...proxied })).status).toBe(201);
      expect((await change({ Origin: 'http://desk.northwind.example', ...proxied })).status).toBe(403);
    } finally {
      await behind.close();
    }
  });
});

describe('a sign-in that a form of another site can send', () => {
  const body = 'email=mira%40northwind.example&password=correct+horse+battery+staple';
  it.each([
    ['application/x-www-form-urlencoded', body],
    ['text/plain', '{"email":"mira@northwind.example","password":"correct horse battery staple"}'],
    ['multipart/form-data; boundary=x', '--x--'],
  ])('is a 415, since a form can say no other type: %s', async (type, form) => {
    const sessions = await test.rows('select count(*) from sessions');
    const answer = await new Client(test.url, undefined).post('/api/admin/session', form, {
      'Content-Type': type,
    });
    expect(answer.status).toBe(415);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(await test.rows('select count(*) from sessions')).toEqual(sessions);
  });
});
