import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { Desk, MAIL } from '../directives/desk.js';
import { leaveDecided } from './decided-approvals.js';
import { OrderDesk } from './order-desk.js';

let test: TestApp;
let orders: OrderDesk;
beforeAll(async () => {
  test = await startTestApp();
  orders = new OrderDesk(test);
});
afterAll(() => test.close());

const elsewhere = (by: Client) => new Client(test.url, by.token);
const list = async (by: Client) => {
  const answer = await elsewhere(by).get('/standing-orders/suggestions');
  expect(answer.status, answer.text).toBe(200);
  return answer.body.items as any[];
};

const decided = (workspaceId: string, given?: Parameters<typeof leaveDecided>[2]) =>
  leaveDecided(test, workspaceId, given);

describe('GET /standing-orders/suggestions', () => {
  it('offers an order for what was approved five times, with its simulation', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const desk = new Desk(test, owner.token);
    for (let n = 0; n < 5; n++) {
      expect(await list(owner)).toEqual([]);
      const free = { directive: MAIL, capo: 'capo_ops', requiresApproval: false };
      const { directiveId } = (await desk.client.post('/directives', free)).body;
      const { approvalId } = await desk.until(directiveId, 'pending_approval');
      expect((await desk.approve(approvalId)).status).toBe(200);
      await desk.until(directiveId, 'executed');
    }
    const [suggestion, ...more] = await list(owner);
    expect(more).toEqual([]);
    expect(suggestion).toEqual({
      suggestionId: expect.stringMatching(/^sug_/),
      order: {
        name: 'Ops: email.send to acme.example',
        text: expect.stringContaining('5 of these were approved without a change'),
        teamId: null,
        capos: ['capo_ops'],
        effect: 'allow',
        match: { actionTypes: ['email.send'], fields: { 'params.to': { $domainIn: ['acme.example'] } } },
        limits: { maxPerDay: 5, maxRecipients: 1 },
      },
      approvals: 5,
      lastApprovedAt: expect.any(Number),
      simulation: {
        considered: 5,
        relaxed: 5,
        stillAsks: 0,
        escalated: 0,
        unchanged: 0,
        relaxedIrreversible: 5,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        computedAt: expect.any(Number),
        changes: expect.arrayContaining([expect.objectContaining({ from: 'require_approval', to: 'allow' })]),
        changesOmitted: 0,
      },
    });
    // Looking leaves nothing, and nothing is active.
    expect(await test.rows('select 1 from standing_orders where workspace_id = $1', [workspaceId])).toEqual(
      [],
    );
    expect(await list(owner)).toEqual([suggestion]);
  });

  it('offers an order for what an agent asked for and a person approved five times unchanged', async () => {
    const { owner } = await test.createWorkspace();
    const paramsSchema = { type: 'object', properties: { to: {}, amount: {}, currency: {} } };
    const paths = { amountPath: 'amount', currencyPath: 'currency', recipientsPath: 'to' };
    for (const name of ['pay.send', 'pay.late'])
      await owner.post('/tools', {
        name,
        paramsSchema,
        reversibility: 'reversible',
        ...(name === 'pay.send' && paths),
      });
    const agent = { name: 'Bot', agent: { name: 'pay-bot' }, tools: ['pay.*'] };
    const bot = new Client(test.url, (await owner.post('/tokens', agent)).body.token);
    const approve = async (tool: string, params: object, by: Client = bot) => {
      const { body } = await by.post('/action-requests', { tool, params });
      expect(body.status).toBe('pending');
      const { contentHash } = (await elsewhere(owner).get(`/approvals/${body.approvalId}`)).body;
      const path = `/approvals/${body.approvalId}/approve`;
      const approved = await elsewhere(owner).send('POST', path, undefined, {
        'If-Match': `"${contentHash}"`,
      });
      expect(approved.status, approved.text).toBe(200);
    };
    const params = { to: ['jane@acme.example'], amount: 20, currency: 'EUR' };
    for (let n = 0; n < 5; n++) {
      expect(await list(owner)).toEqual([]);
      await approve('pay.send', { ...params, amount: 15 + n });
      // Nobody has registered this one, an amount is missing in the next, and the last agent has no name.
      await approve('pay.unknown', params);
      await approve('pay.send', { ...params, amount: undefined });
      await approve('pay.late', params, owner);
    }
    const [suggestion, ...more] = await list(owner);
    expect(more).toEqual([]);
    expect(suggestion).toMatchObject({
      order: {
        name: 'pay-bot: pay.send to acme.example of up to 100 EUR',
        teamId: null,
        capos: null,
        effect: 'allow',
        match: {
          agents: ['pay-bot'],
          actionTypes: ['pay.send'],
          fields: {
            'params.to': { $domainIn: ['acme.example'] },
            amount: { $lte: 100 },
            currency: { $eq: 'EUR' },
          },
        },
        limits: { maxPerDay: 5, maxRecipients: 1 },
      },
      approvals: 5,
      simulation: { relaxed: 5, relaxedIrreversible: 0 },
    });
    const path = `/standing-orders/suggestions/${suggestion.suggestionId}/accept`;
    const { body: draft } = await elsewhere(owner).post(path);
    expect((await orders.activate(draft.standingOrderId, owner)).body.status).toBe('active');
    const asked = async (given: object) =>
      (await bot.post('/action-requests', { tool: 'pay.send', params: { ...params, ...given } })).body.status;
    expect(await asked({})).toBe('allowed');
    expect(await asked({ to: ['jane@other.example'] })).toBe('pending');
    expect(await asked({ amount: 101 })).toBe('pending');
    expect(await asked({ currency: 'USD' })).toBe('pending');
  });

  it('begins anew after an agent was refused, or its parameters were edited', async () => {
    const { owner } = await test.createWorkspace();
    await owner.post('/tools', {
      name: 'crm.note',
      paramsSchema: { type: 'object', properties: { text: {} } },
    });
    const agent = { name: 'Bot', agent: { name: 'crm-bot' }, tools: ['crm.*'] };
    const bot = new Client(test.url, (await owner.post('/tokens', agent)).body.token);
    const decide = async (how: 'approve' | 'reject' | 'edit') => {
      const { approvalId } = (await bot.post('/action-requests', { tool: 'crm.note', params: { text: 'x' } }))
        .body;
      const path = `/approvals/${approvalId}`;
      if (how === 'reject') return elsewhere(owner).post(`${path}/reject`, { feedback: 'No.' });
      let { contentHash } = (await elsewhere(owner).get(path)).body;
      const ifMatch = () => ({ 'If-Match': `"${contentHash}"` });
      if (how === 'edit')
        ({ contentHash } = (
          await elsewhere(owner).send('PATCH', path, { params: { text: 'y' } }, ifMatch())
        ).body);
      return elsewhere(owner).send('POST', `${path}/approve`, undefined, ifMatch());
    };
    for (const ending of ['reject', 'edit'] as const) {
      for (let n = 0; n < 5; n++) expect((await decide('approve')).status).toBe(200);
      expect(await list(owner)).toMatchObject([{ order: { name: 'crm-bot: crm.note' }, approvals: 5 }]);
      expect((await decide(ending)).status).toBe(200);
      expect(await list(owner)).toEqual([]);
    }
  });

  it('offers none for what the directives ask about anyway, or what the guardian asks about', async () => {
    for (const given of [{ requiresApproval: true }, { mode: 'supervised' }] as const) {
      const { workspaceId, owner } = await test.createWorkspace();
      await decided(workspaceId, given);
      expect(await list(owner)).toEqual([]);
    }
  });

  it('counts 30 days, and begins anew after an edit or a rejection', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    await decided(workspaceId, { daysAgo: 31 });
    expect(await list(owner)).toEqual([]);
    await decided(workspaceId, { daysAgo: 20, count: 7 });
    expect(await list(owner)).toMatchObject([{ approvals: 7 }]);
    await decided(workspaceId, { daysAgo: 10, status: 'rejected', count: 1 });
    expect(await list(owner)).toEqual([]);
    await decided(workspaceId, { daysAgo: 9, count: 6 });
    expect(await list(owner)).toMatchObject([{ approvals: 6 }]);
    await decided(workspaceId, { daysAgo: 8, isEdited: true, count: 1 });
    expect(await list(owner)).toEqual([]);
  });

  it('shows each team what comes of its own approvals', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const [ours, theirs] = [
      await test.createTeam(workspaceId, 'Ours'),
      await test.createTeam(workspaceId, 'Theirs'),
    ];
    await decided(workspaceId, { teamId: ours, count: 5 });
    await decided(workspaceId, { teamId: theirs, count: 6 });
    await decided(workspaceId, { count: 7 });
    const teamsOf = async (by: Client) => (await list(by)).map(({ order }) => order.teamId);
    expect(await teamsOf(owner)).toEqual([null, theirs, ours]);
    expect(await teamsOf(await test.createMember(workspaceId, 'viewer', [ours]))).toEqual([ours]);
    expect(await teamsOf(await test.createMember(workspaceId, 'viewer'))).toEqual([null]);
  });

  it('offers ten at the most, from a bounded number of statements', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    for (let n = 0; n < 12; n++) await decided(workspaceId, { to: `jane@acme${n}.example` });
    const client = elsewhere(owner);
    const answer = await client.get('/standing-orders/suggestions');
    expect(answer.body.items).toHaveLength(10);
    const line = test.logs.find(
      (log) => log['requestId'] === answer.headers.get('x-request-id') && log['msg'] === 'request',
    );
    expect(line?.['roundTrips'] ?? 0).toBeLessThanOrEqual(7);
  });
});

describe('POST /standing-orders/suggestions/:id/accept', () => {
  let workspaceId: string;
  let owner: TestMember | Client;
  let suggestionId: string;
  beforeAll(async () => {
    ({ workspaceId, owner } = await test.createWorkspace());
    await decided(workspaceId);
    [{ suggestionId }] = (await list(owner)) as [any];
  });
  const accept = (by: Client, id = suggestionId) =>
    elsewhere(by).post(`/standing-orders/suggestions/${id}/accept`);

  it('takes an admin', async () => {
    const operator = await test.createMember(workspaceId, 'operator');
    expect((await accept(operator)).status).toBe(403);
    expect(await list(owner)).toHaveLength(1);
  });

  it('answers 404 for what is not suggested', async () => {
    expect((await accept(owner, newId('sug'))).status).toBe(404);
    expect((await accept(owner, 'nonsense')).status).toBe(404);
    expect((await accept((await test.createWorkspace()).owner)).status).toBe(404);
  });

  it('makes a draft of it once, which decides nothing', async () => {
    const admin = await test.createMember(workspaceId, 'admin');
    const answers = await Promise.all([accept(admin), accept(admin), accept(owner)]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const [{ body, headers }] = answers as any;
    expect(new Set(answers.map((answer) => answer.body.standingOrderId)).size).toBe(1);
    expect(headers.get('location')).toBe(`/api/pro/standing-orders/${body.standingOrderId}`);
    expect(body).toMatchObject({
      status: 'draft',
      version: 1,
      listedAt: '/api/pro/standing-orders?status=draft',
      heldBecause: 'It was made from a suggestion and decides nothing until somebody activates it.',
      name: 'Ops: email.send to acme.example',
      capos: ['capo_ops'],
      effect: 'allow',
      limits: { maxPerDay: 5, maxRecipients: 1 },
    });
    expect(await orders.receipts(body.standingOrderId)).toMatchObject([
      { action: 'standing_order.created', details: { status: 'draft', suggestionId, approvals: 5 } },
    ]);
    expect(await list(owner)).toEqual([]);
    const dismissed = await elsewhere(owner).post(`/standing-orders/suggestions/${suggestionId}/dismiss`);
    expect(dismissed.body.error.code).toBe('INVALID_TRANSITION');
    // It is activated like any other: an owner acknowledges that mail cannot be taken back.
    const refused = await elsewhere(admin).post(`/standing-orders/${body.standingOrderId}/activate`);
    expect(refused.body.error.code).toBe('SIMULATION_REQUIRED');
    expect((await orders.activate(body.standingOrderId, owner)).body.status).toBe('active');
  });
});

describe('POST /standing-orders/suggestions/:id/dismiss', () => {
  it('has it not made again', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const teamId = await test.createTeam(workspaceId, 'Sales');
    await decided(workspaceId, { teamId });
    const seller = await test.createMember(workspaceId, 'operator', [teamId]);
    const stranger = await test.createMember(workspaceId, 'operator', [
      await test.createTeam(workspaceId, 'Shop'),
    ]);
    const viewer = await test.createMember(workspaceId, 'viewer', [teamId]);
    const [{ suggestionId, order }] = (await list(seller)) as [any];
    const dismiss = (by: Client) =>
      elsewhere(by).post(`/standing-orders/suggestions/${suggestionId}/dismiss`);
    expect((await dismiss(stranger)).status).toBe(404);
    expect((await dismiss(viewer)).status).toBe(403);
    const answer = await dismiss(seller);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ suggestionId, decision: 'dismissed' });
    expect((await dismiss(seller)).status).toBe(200);
    expect(await orders.receipts(suggestionId)).toMatchObject([
      { action: 'suggestion.dismissed', teamId, details: { approvals: 5, rule: { match: order.match } } },
    ]);
    await decided(workspaceId, { teamId, count: 3 });
    expect(await list(seller)).toEqual([]);
    expect(await list(owner)).toEqual([]);
    const accepted = await elsewhere(owner).post(`/standing-orders/suggestions/${suggestionId}/accept`);
    expect(accepted.status).toBe(409);
  });
});
