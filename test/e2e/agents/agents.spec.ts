import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AgentView } from '../../../src/features/agents/agents.dto.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';

let test: TestApp;
let workspace: TestWorkspace;
let owner: Client;
beforeAll(async () => {
  test = await startTestApp();
});
beforeEach(async () => {
  workspace = await test.createWorkspace();
  ({ owner } = workspace);
});
afterAll(() => test.close());

const DAY_MS = 86_400_000;
const ROLES = ['capo_marketing', 'capo_revenue', 'capo_ops', 'capo_product', 'ceo'];

/** From another address each time: it is asked again and again while a draft is made. */
async function agent(role: string, client = new Client(test.url, workspace.owner.token)): Promise<AgentView> {
  const { body } = await client.get<{ agents: AgentView[] }>('/agents');
  return body.agents.find((each) => each.role === role)!;
}

interface Past {
  status: string;
  capo?: string;
  at?: number;
  teamId?: string;
}

/** A directive as it stands after it came to `status` at `at`. */
async function leave({ status, capo = 'capo_ops', at = Date.now(), teamId }: Past): Promise<string> {
  const directiveId = newId('dir');
  const history = [{ from: 'sending', to: status, at, receiptId: newId('rcp') }];
  await test.rows(
    `insert into directives (directive_id, workspace_id, team_id, text, capo, routed_by, priority, requires_approval,
       context, status, history, created_by, created_at, started_at, executed_at, error)
     values ($1, $2, $3, 'Pack the parcels', $4, 'operator', 'medium', true, '{}', $5, $6, '{}', $7, $7, $8, $9)`,
    [
      directiveId,
      workspace.workspaceId,
      teamId ?? null,
      capo,
      status,
      JSON.stringify(history),
      new Date(at),
      status === 'executed' ? new Date(at) : null,
      status === 'failed' ? { code: 'PACKET_FAILED', message: 'The server refused.' } : null,
    ],
  );
  return directiveId;
}

/** The directives whose draft is parked until their capo is resumed. */
async function parked(): Promise<string[]> {
  const rows = await test.rows<{ id: string }>(
    `select id from work_items where workspace_id = $1 and kind = 'directive.draft' and due_at = 'infinity'`,
    [workspace.workspaceId],
  );
  return rows.map(({ id }) => id);
}

const receipts = (action: string) =>
  test.rows<{ body: string }>(
    'select body from receipts where workspace_id = $1 and action = $2 order by seq',
    [workspace.workspaceId, action],
  );

describe('GET /agents 200', () => {
  it('answers the five capos of the specification, idle at first', async () => {
    const answer = await owner.get('/agents');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      outsideAgents: [],
      agents: ROLES.map((role) => ({
        id: role,
        role,
        status: 'idle',
        pendingDirectives: 0,
        completedToday: 0,
        lastExecutedAt: null,
        statusReason: 'It has not worked within the last 24 hours.',
        pausedBy: null,
        currentDirectiveId: null,
      })),
    });
  });

  it('follows a directive from draft through approval to its end', async () => {
    const text = 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.';
    const { body } = await owner.post('/directive', { text, capo: 'capo_ops' });
    const waiting = await eventually(
      () => agent('capo_ops'),
      ({ status }) => status === 'awaiting-approval',
    );
    expect(waiting).toMatchObject({ pendingDirectives: 1, completedToday: 0, currentDirectiveId: null });
    await owner.post(`/approvals/${body.approvalId}/approve`);
    const active = await eventually(
      () => agent('capo_ops'),
      ({ completedToday }) => completedToday === 1,
    );
    expect(active).toMatchObject({ status: 'active', pendingDirectives: 0, currentDirectiveId: null });
    const directive = await owner.get(`/directives/${body.directiveId}`);
    expect(active.lastExecutedAt).toBe(new Date(directive.body.executedAt).toISOString());
    expect(await agent('ceo')).toMatchObject({ status: 'idle', completedToday: 0 });
  });

  it('is in error after three failures in a row, and no longer after a success', async () => {
    const now = Date.now();
    await leave({ status: 'executed', at: now - 5_000 });
    for (const ago of [4_000, 3_000]) await leave({ status: 'failed', at: now - ago });
    expect(await agent('capo_ops')).toMatchObject({ status: 'active' });
    await leave({ status: 'failed', at: now - 2_000 });
    expect(await agent('capo_ops')).toMatchObject({
      status: 'error',
      statusReason: 'Its last three executions failed; the last one: The server refused.',
    });
    await leave({ status: 'executed', at: now - 1_000 });
    expect(await agent('capo_ops')).toMatchObject({ status: 'active' });
  });

  it("counts today from midnight in the workspace's zone", async () => {
    const now = Date.now();
    // Zones half a day apart: of the hours gone by today, one of them has at least 12 more than the other.
    for (let hour = 0; hour < 24; hour++)
      await leave({ status: 'executed', at: now - hour * 3_600_000 - 60_000 });
    for (const zone of ['Pacific/Auckland', 'America/New_York', 'Asia/Kolkata', 'UTC']) {
      await test.rows('update workspaces set timezone = $2 where workspace_id = $1', [
        workspace.workspaceId,
        zone,
      ]);
      const time = new Intl.DateTimeFormat('en-GB', {
        timeZone: zone,
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
      });
      const [hours, minutes] = time.format(now).split(':').map(Number) as [number, number];
      // One directive a minute ago, and one each hour before that; a minute more or less may pass meanwhile.
      const expected = hours + (minutes >= 1 ? 1 : 0);
      const { completedToday } = await agent('capo_ops');
      expect([expected, expected + (minutes <= 1 ? 1 : 0)], zone).toContain(completedToday);
    }
  });

  it('counts today from the first of two midnights', async () => {
    await test.rows(`update workspaces set timezone = 'America/Havana' where workspace_id = $1`, [
      workspace.workspaceId,
    ]);
    // At 01:00 the clock is set back to 00:00, at 05:00Z.
    const first = Date.UTC(2026, 10, 1, 4);
    for (const at of [first - 1, first, first + 1_800_000, first + 5_400_000])
      await leave({ status: 'executed', at });
    test.clock.stop(first + 7_200_000);
    expect(await agent('capo_ops')).toMatchObject({ completedToday: 3 });
    test.clock.goOn();
  });

  it('names what it is sending', async () => {
    const directiveId = await leave({ status: 'sending' });
    expect(await agent('capo_ops')).toMatchObject({
      status: 'active',
      statusReason: 'It is working.',
      pendingDirectives: 1,
      currentDirectiveId: directiveId,
    });
  });

  it('is idle a day after the last execution, and still says when that was', async () => {
    const at = Date.now() - DAY_MS - 1_000;
    await leave({ status: 'executed', at });
    expect(await agent('capo_ops')).toMatchObject({
      status: 'idle',
      lastExecutedAt: new Date(at).toISOString(),
    });
  });

  it('is halted while killed, even when paused', async () => {
    await owner.post('/agents/ceo/pause');
    await owner.post('/guardian/kill-switch', { reason: 'a drill' });
    const { body } = await owner.get('/agents');
    for (const each of body.agents) {
      expect(each).toMatchObject({ status: 'halted', statusReason: 'The kill switch is engaged: a drill' });
    }
    expect((await agent('ceo')).pausedBy).not.toBeNull();
    await owner.post('/guardian/revert');
    expect(await agent('ceo')).toMatchObject({ status: 'paused' });
    expect(await agent('capo_ops')).toMatchObject({ status: 'idle' });
  });

  it('counts for a member only what the member may see, and nothing of another workspace', async () => {
    const teamId = await test.createTeam(workspace.workspaceId, 'Depot');
    const insider = await test.createMember(workspace.workspaceId, 'viewer', [teamId]);
    const outsider = await test.createMember(workspace.workspaceId, 'viewer');
    await leave({ status: 'queued', teamId });
    expect(await agent('capo_ops')).toMatchObject({ pendingDirectives: 1 });
    expect(await agent('capo_ops', insider)).toMatchObject({ pendingDirectives: 1 });
    expect(await agent('capo_ops', outsider)).toMatchObject({ pendingDirectives: 0 });
    expect(await agent('capo_ops', (await test.createWorkspace()).owner)).toMatchObject({
      pendingDirectives: 0,
    });
  });
});

describe('POST /agents/:role/pause 200', () => {
  it('pauses: a directive waits until resume, with a receipt for each', async () => {
    const paused = await owner.post('/agents/capo_ops/pause');
    expect(paused.status).toBe(200);
    const by = { type: 'member', id: (workspace.owner as { memberId?: string }).memberId, via: 'api' };
    expect(paused.body).toMatchObject({ id: 'capo_ops', status: 'paused', pausedBy: by });
    expect(paused.body.statusReason).toMatch(/^Paused by owner /);

    const text = 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.';
    const { body } = await owner.post('/directive', { text, capo: 'capo_ops' });
    // Claimed and parked at once: nothing of it counts as a failure.
    await eventually(parked, (ids) => ids.includes(body.directiveId));
    expect(
      await test.rows('select claimed, failures, crashes from work_items where id = $1', [body.directiveId]),
    ).toEqual([{ claimed: false, failures: 0, crashes: 0 }]);
    expect(await agent('capo_ops')).toMatchObject({
      status: 'paused',
      pendingDirectives: 1,
      currentDirectiveId: null,
    });
    expect((await owner.get(`/approvals/${body.approvalId}`)).body).toMatchObject({ ready: false });

    const resumed = await owner.post('/agents/capo_ops/resume');
    expect(resumed.status).toBe(200);
    expect(resumed.body).toMatchObject({ id: 'capo_ops', pausedBy: null });
    expect(resumed.body.status).not.toBe('paused');
    const approval = await owner.get(`/approvals/${body.approvalId}?wait=10`);
    expect(approval.body).toMatchObject({ ready: true });

    const [pauseReceipt] = await receipts('agent.paused');
    expect(JSON.parse(pauseReceipt!.body)).toMatchObject({
      actor: by,
      entity: { type: 'agent', id: 'capo_ops' },
      capo: 'capo_ops',
      requestId: paused.headers.get('x-request-id'),
    });
    const [resumeReceipt] = await receipts('agent.resumed');
    expect(JSON.parse(resumeReceipt!.body)).toMatchObject({
      entity: { type: 'agent', id: 'capo_ops' },
      details: { woken: 1 },
      requestId: resumed.headers.get('x-request-id'),
    });
  });

  it('answers the same again, to anyone, without a second receipt', async () => {
    const admin = await test.createMember(workspace.workspaceId, 'admin');
    const first = await owner.post('/agents/ceo/pause');
    const second = await admin.post('/agents/ceo/pause');
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(await receipts('agent.paused')).toHaveLength(1);
  });

  it('pauses once however many ask at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => owner.post('/agents/ceo/pause')));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(await receipts('agent.paused')).toHaveLength(1);
  });

  it('concerns one workspace only', async () => {
    const other = await test.createWorkspace();
    await owner.post('/agents/ceo/pause');
    expect(await agent('ceo', other.owner)).toMatchObject({ status: 'idle', pausedBy: null });
  });
});

describe('POST /agents/:role/resume 200', () => {
  it('answers without a receipt when nothing was paused', async () => {
    const answer = await owner.post('/agents/ceo/resume');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ id: 'ceo', status: 'idle', pausedBy: null });
    expect(await receipts('agent.resumed')).toEqual([]);
  });

  it('wakes the directives of every team, and of this capo only', async () => {
    const teamId = await test.createTeam(workspace.workspaceId, 'Night');
    for (const role of ['capo_ops', 'capo_product']) await owner.post(`/agents/${role}/pause`);
    const ids: Record<string, string> = {};
    for (const [capo, team] of [
      ['capo_ops', teamId],
      ['capo_product', undefined],
    ] as const) {
      const directive = 'Write a document "Where we stand": All is well.';
      const { body } = await owner.post('/directives', { directive, capo, ...(team && { teamId: team }) });
      ids[capo] = body.directiveId;
    }
    await eventually(parked, (found) => found.length === 2);
    await owner.post('/agents/capo_ops/resume');
    await eventually(
      () => agent('capo_ops'),
      ({ status }) => status === 'awaiting-approval',
    );
    expect(await parked()).toEqual([ids['capo_product']]);
  });
});

describe('a resume while a directive is just found to be waiting for its capo', () => {
  it('leaves none parked', async () => {
    await owner.post('/agents/capo_ops/pause');
    const text = 'Write a document "Where we stand": All is well.';
    const { body } = await owner.post('/directive', { text, capo: 'capo_ops' });
    await eventually(parked, (ids) => ids.length === 1);
    // Whoever begins the draft knows that the capo is paused, and has not parked it yet.
    const other = await test.database.owner.connect();
    await other.query('begin');
    await other.query('select from directives where directive_id = $1 for update', [body.directiveId]);
    await test.rows('update work_items set due_at = now() where id = $1', [body.directiveId]);
    const waiting = () =>
      test.rows(
        `select from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`,
      );
    await eventually(waiting, (rows) => rows.length === 1);
    const resumed = owner.post('/agents/capo_ops/resume');
    await Promise.race([resumed, eventually(waiting, (rows) => rows.length === 2)]);
    await other.query('rollback');
    other.release();
    expect((await resumed).status).toBe(200);
    expect((await owner.get(`/approvals/${body.approvalId}?wait=10`)).body).toMatchObject({ ready: true });
    expect(await parked()).toEqual([]);
  });
});

describe.each(['pause', 'resume'])('POST /agents/:role/%s', (act) => {
  it.each(['operator', 'viewer'] as const)('403 for a mere %s', async (role) => {
    const member = await test.createMember(workspace.workspaceId, role);
    const answer = await member.post(`/agents/ceo/${act}`);
    expect(answer.status).toBe(403);
    expect(answer.body.error.details).toEqual({ requiredRoles: ['admin', 'owner'] });
  });

  it.each(['capo_legal', 'CEO', 'toString', '%20'])('404 for %s', async (role) => {
    const answer = await owner.post(`/agents/${role}/${act}`);
    expect(answer.status).toBe(404);
    expect(answer.body.error.code).toBe('NOT_FOUND');
  });
});

describe('GET /engines 200', () => {
  it('lists the engines with what each can do', async () => {
    const answer = await owner.get('/engines');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ratelimit-limit')).toBe('30');
    expect(answer.body.items.map(({ name, capo }: { name: string; capo: string }) => [name, capo])).toEqual([
      ['marketing', 'capo_marketing'],
      ['revenue', 'capo_revenue'],
      ['ops', 'capo_ops'],
      ['product', 'capo_product'],
      ['executive', 'ceo'],
    ]);
    const [marketing] = answer.body.items;
    expect(marketing).toMatchObject({
      domain: ['audience', 'content', 'traffic', 'nurture'],
      status: 'idle',
    });
    expect(marketing.actionTypes).toContainEqual({
      type: 'email.send',
      effect: expect.any(String),
      kind: 'message',
      reversibility: 'irreversible',
    });
    const engines = answer.body.items.filter((engine: { actionTypes: { type: string }[] }) =>
      engine.actionTypes.some(({ type }) => type === 'email.send'),
    );
    expect(engines.map(({ name }: { name: string }) => name)).toEqual(['marketing', 'revenue', 'ops']);
  });

  it("shows the status of the engine's capo", async () => {
    await owner.post('/agents/capo_product/pause');
    const { body } = await owner.get('/engines');
    expect(body.items.map(({ status }: { status: string }) => status)).toEqual([
      'idle',
      'idle',
      'idle',
      'paused',
      'idle',
    ]);
  });
});
