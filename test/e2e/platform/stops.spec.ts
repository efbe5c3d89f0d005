import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RouteTable } from '../../../src/platform/http/route-table.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
});
afterEach(() => test.clock.goOn());
afterAll(() => test.close());

/** The owner of a free workspace whose day is used up; each call comes from an address of its own. */
async function exhausted(): Promise<() => Client> {
  const { workspaceId, owner } = await test.createWorkspace('free');
  // Neither the day nor a minute ends meanwhile.
  test.clock.stopAtMinute();
  await test.rows(`insert into tier_days values ($1, $2, 100)`, [
    workspaceId,
    new Date(test.clock.now()).toISOString().slice(0, 10),
  ]);
  return () => new Client(test.url, owner.token);
}

describe('a tier that is used up', () => {
  it('refuses what does something', async () => {
    const caller = await exhausted();
    for (const answer of [
      await caller().get('/guardian'),
      await caller().post('/directive', { text: 'x' }),
      await caller().post('/guardian/revert', {}),
      await caller().put('/guardian/mode', { mode: 'autonomous' }),
      await caller().post(`/approvals/${newId('apr')}/approve`),
      await caller().post(`/approvals/${newId('apr')}/reject`, { feedback: 'Again', revise: true }),
      await caller().post('/approvals', { approvalId: newId('apr'), decision: 'approve' }),
    ]) {
      expect(answer.status, answer.text).toBe(429);
      expect(answer.body.error.details.policy).toBe('tier-day');
    }
  });

  it('lets a schedule be paused or deleted, and nothing else', async () => {
    const caller = await exhausted();
    const path = `/schedules/${newId('sch')}`;
    expect((await caller().send('PATCH', path, { status: 'paused' })).status).toBe(404);
    expect((await caller().delete(path)).status).toBe(404);
    for (const body of [{ status: 'paused', name: 'Again' }, { status: 'active' }, {}]) {
      expect((await caller().send('PATCH', path, body)).status).toBe(429);
    }
  });

  it('lets the kill switch through in both spellings, and counts it', async () => {
    const caller = await exhausted();
    for (const [path, changed] of [
      ['/guardian/kill-switch', true],
      ['/guardian/killswitch', false],
    ] as const) {
      const answer = await caller().post(path, { reason: 'Stop' });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toMatchObject({ mode: 'killed', changed });
      expect(answer.headers.get('x-ratelimit-limit')).toBe('100');
      expect(answer.headers.get('x-ratelimit-remaining')).toBe('0');
    }
  });

  it('keeps the window of the route for the kill switch', async () => {
    const caller = (await exhausted())();
    const statuses = new Map<number, number>();
    for (let call = 0; call < 61; call++) {
      const { status } = await caller.post('/guardian/kill-switch');
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 200: 30, 429: 31 });
  });

  it.each<[string, (client: Client) => ReturnType<Client['post']>]>([
    ['a rejection', (client) => client.post(`/approvals/${newId('apr')}/reject`, { feedback: 'No' })],
    ['a cancellation', (client) => client.post(`/directives/${newId('dir')}/cancel`)],
    ['the pause of a standing order', (client) => client.post(`/standing-orders/${newId('so')}/pause`)],
    ['the revocation of a token', (client) => client.delete(`/tokens/${newId('tok')}`)],
  ])('lets through: %s', async (_case, send) => {
    const answer = await send((await exhausted())());
    expect(answer.status, answer.text).toBe(404);
  });

  it('lets through the pause of an agent, and the mode that stops everything', async () => {
    const caller = await exhausted();
    expect((await caller().post('/agents/capo_ops/pause')).status).toBe(200);
    expect((await caller().put('/guardian/mode', { mode: 'observe' })).status).toBe(200);
  });

  it('lets decisions through when all of them are rejections', async () => {
    const caller = await exhausted();
    const reject = (more: object = {}) => ({
      approvalId: newId('apr'),
      decision: 'reject',
      feedback: 'No',
      ...more,
    });
    expect((await caller().post('/approvals', reject())).status).toBe(200);
    expect((await caller().post('/approvals', { decisions: [reject(), reject()] })).status).toBe(200);
    for (const other of [{ decision: 'approve' }, { revise: true }]) {
      const mixed = { decisions: [reject(), reject(other)] };
      expect((await caller().post('/approvals', mixed)).status).toBe(429);
    }
    for (const malformed of [{ decisions: 'all' }, { decisions: [null] }, {}]) {
      expect((await caller().post('/approvals', malformed)).status).toBe(429);
    }
  });
});

describe('an address that strangers share', () => {
  const statuses = async (times: number, send: () => Promise<{ status: number }>) => {
    const answers = await Promise.all(Array.from({ length: times }, send));
    return Object.entries(Object.groupBy(answers, ({ status }) => String(status))).map(
      ([status, those]) => `${those!.length} x ${status}`,
    );
  };
  /** The same address for all of them, which nobody has called from. */
  const shared = () => ({ 'X-Forwarded-For': new Client(test.url, undefined).address });

  it('lets a member stop everything, though strangers and an agent use up their windows on the same route', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const operator = await test.createMember(workspaceId, 'operator');
    const { body: agent } = await owner.post('/tokens', {
      name: 'Agent',
      agent: { name: 'Claude' },
      tools: ['crm.*'],
    });
    test.clock.stopAtMinute();
    const here = shared();
    const kill = (token: string | undefined, path = '/guardian/kill-switch') =>
      new Client(test.url, token).post(path, undefined, here);
    expect(await statuses(20, () => kill(undefined))).toEqual(['20 x 401']);
    expect(await statuses(20, () => kill(agent.token, '/guardian/killswitch'))).toEqual(
      expect.arrayContaining(['10 x 403', '10 x 429']),
    );
    expect((await kill('cons_x')).body.error.details).toMatchObject({ policy: 'route', limit: 30 });
    expect((await kill(operator.token)).body).toMatchObject({ mode: 'killed', changed: true });
    // Each member has a window, which the others cannot use up either.
    expect(await statuses(30, () => kill(operator.token))).toEqual(
      expect.arrayContaining(['29 x 200', '1 x 429']),
    );
    expect((await kill(owner.token, '/guardian/killswitch')).status).toBe(200);
  });

  it.each(['GET /api/admin/session', 'POST /api/admin/operator-token'])(
    'lets a person who is signed in begin: %s',
    async (route) => {
      const [method, path] = route.split(' ') as [string, string];
      const admin = await test.signIn();
      test.clock.stopAtMinute();
      const here = shared();
      const asked = await statuses(70, () =>
        new Client(test.url, undefined).send(method, path, undefined, here),
      );
      expect(asked).toEqual(
        expect.arrayContaining([expect.stringMatching(/x 401$/), expect.stringMatching(/x 429$/)]),
      );
      expect((await admin.send(method, path, undefined, here)).status).toBeLessThan(300);
    },
  );

  it('serves the pages of the dashboard, however often they were asked for', async () => {
    const here = shared();
    expect(await statuses(70, () => fetch(test.url, { headers: here }))).toEqual(['70 x 200']);
  });
});

describe('the routes that say so', () => {
  it('are these', () => {
    const { entries } = test.app.get(RouteTable);
    const stopping = entries
      .filter(({ policy }) => policy.stops)
      .map(({ method, paths }) => `${method} ${paths[0]}`);
    expect(stopping).toEqual([
      'POST /api/admin/operator-token',
      'DELETE /api/admin/session',
      'GET /api/admin/session',
      'POST /api/admin/session/workspace',
      'GET /api/admin/sessions',
      'DELETE /api/admin/sessions/:id',
      'POST /api/pro/action-requests/:actionRequestId/cancel',
      'POST /api/pro/action-requests/:actionRequestId/result',
      'POST /api/pro/agents/:role/pause',
      'POST /api/pro/approvals',
      'POST /api/pro/approvals/:approvalId/reject',
      'POST /api/pro/directives/:directiveId/cancel',
      'POST /api/pro/escalations/decide',
      'POST /api/pro/guardian/kill-switch',
      'PUT /api/pro/guardian/mode',
      'GET /api/pro/invites',
      'DELETE /api/pro/invites/:id',
      'GET /api/pro/members',
      'DELETE /api/pro/members/:uid',
      'POST /api/pro/questions/:questionId/cancel',
      'DELETE /api/pro/schedules/:scheduleId',
      'PATCH /api/pro/schedules/:scheduleId',
      'POST /api/pro/standing-orders/:standingOrderId/pause',
      'DELETE /api/pro/teams/:id/members/:uid',
      'GET /api/pro/tokens',
      'DELETE /api/pro/tokens/:id',
      'POST /api/pro/tokens/:id/pause',
      'PATCH /api/pro/tools/:name',
    ]);
  });
});

describe('a stop whose caller seems to change again and again', () => {
  it('is given up with 503 after some tries, since nobody would ever get an answer', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    await test.rows(`
      create sequence tries;
      grant usage on sequence tries to public;
      create function change_caller() returns trigger language plpgsql as $$
      begin
        perform nextval('public.tries');
        raise exception 'changed' using errcode = 'CW002';
      end $$;
      create trigger change_caller before insert on receipts for each row
        when (new.workspace_id = '${workspaceId}') execute function change_caller()`);
    try {
      const { status, body } = await owner.post('/guardian/kill-switch');
      expect([status, body.error.code]).toEqual([503, 'UNAVAILABLE']);
      expect(await test.rows('select last_value::int as tries from tries')).toEqual([{ tries: 5 }]);
    } finally {
      await test.rows('drop function change_caller cascade; drop sequence tries');
    }
    expect((await owner.post('/guardian/kill-switch')).body).toMatchObject({ mode: 'killed', changed: true });
  });
});
