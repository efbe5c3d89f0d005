import { Readable } from 'node:stream';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DecisionProof } from '../../../src/features/verifier/decision-proof.js';
import { verifyLog } from '../../../src/features/verifier/verifier.js';
import { OpenWork } from '../../../src/features/verifier/open-work.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { type Answer, Client } from '../../support/client.js';
import { leaveQuestion, PLAN } from '../approvals/question-rows.js';
import { OrderDesk } from '../standing-orders/order-desk.js';
import { leaveActionRequest } from './action-request-rows.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';

let test: TestApp;
let admin: Client;
let operator: Client;
let bot: Client;
let desk: OrderDesk;
let botToken: { tokenId: string };

beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
  admin = await test.createMember(test.workspaceId, 'admin');
  operator = await test.createMember(test.workspaceId, 'operator');
  const made = await admin.post('/tokens', {
    name: 'Refunds',
    agent: { name: 'refund-bot' },
    tools: ['pay.*'],
  });
  expect(made.status).toBe(201);
  botToken = made.body;
  bot = new Client(test.url, made.body.token);
});
afterAll(() => test.close());

const attempt = () => newId('req').padEnd(30, 'x');
const ask = (tool: string, params: object, more: object = {}) =>
  bot.post('/action-requests', { tool, params, ...more });
const read = async (id: string) => (await bot.get(`/action-requests/${id}`)).body;
const consume = (id: string, paramsHash: string, by = attempt()) =>
  bot.post(`/action-requests/${id}/consume`, { attempt: by, paramsHash });
const actsOn = async (id: string) =>
  (
    await test.rows<{ body: string }>('select body from receipts where entity_id = $1 order by seq', [id])
  ).map(({ body }) => JSON.parse(body).action);
const approvalOf = async (approvalId: string) => (await operator.get(`/approvals/${approvalId}`)).body;

const PAY = {
  type: 'object',
  properties: { order: { type: 'string' }, amount: { type: 'number' }, currency: { type: 'string' } },
  required: ['order', 'amount', 'currency'],
  additionalProperties: false,
};

/** Registers a tool, and an order that allows it up to 50 EUR a day. */
async function allowedTool(name: string) {
  const tool = await admin.post('/tools', {
    name,
    paramsSchema: PAY,
    amountPath: 'amount',
    currencyPath: 'currency',
    reversibility: 'reversible',
    risk: 'low',
    titleTemplate: 'Pay {{amount}} {{currency}} for {{order}}',
  });
  expect(tool.status).toBe(201);
  return desk.active({
    name: `Allow ${name}`,
    effect: 'allow',
    match: { actionTypes: [name], fields: { 'params.amount': { $lte: 50 } } },
    limits: { maxAmountPerDay: 60 },
  });
}

it.each(['null', '[]', '{"tool":1,"params":[]}', '{"tool":"pay.none","params":null}'])(
  'a body that asks for nothing is told so: %s',
  async (body) => {
    const answer = await bot.post('/action-requests', body, { 'Content-Type': 'application/json' });
    expect([400, 422], answer.text).toContain(answer.status);
  },
);

describe('an action that a standing order allows', () => {
  it('is allowed at once, consumed once with a permit for exactly it, and completed', async () => {
    await test.owner.put('/settings', { currency: 'EUR' });
    await allowedTool('pay.invoice');
    const params = { order: 'A-17', amount: 25, currency: 'EUR' };
    const asked = await ask('pay.invoice', params, { reason: 'It is due.' });
    expect(asked.status, JSON.stringify(asked.body)).toBe(201);
    expect(asked.body).toMatchObject({
      status: 'allowed',
      title: 'Pay 25 EUR for A-17',
      agent: { name: 'refund-bot', tokenId: botToken.tokenId },
      approvalId: null,
      policy: { outcome: 'allow', explanation: ['The standing orders allow this.'] },
      decision: { outcome: 'allowed', params },
    });
    const { actionRequestId, paramsHash } = asked.body;
    const by = attempt();
    const consumed = await consume(actionRequestId, paramsHash, by);
    expect(consumed.status, JSON.stringify(consumed.body)).toBe(200);
    expect(consumed.body).toMatchObject({ status: 'consumed', actBy: expect.any(Number) });
    const keys = createRemoteJWKSet(new URL(`${test.url}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(consumed.body.permit, keys, {
      audience: 'pay.invoice',
      issuer: test.url,
      typ: 'consigliere-permit+jwt',
      currentDate: new Date(consumed.body.consumedAt),
    });
    expect(decodeProtectedHeader(consumed.body.permit).alg).toBe('EdDSA');
    expect(payload).toMatchObject({
      sub: actionRequestId,
      tool: 'pay.invoice',
      params_sha256: paramsHash,
      workspace_id: test.workspaceId,
      decided_by: 'guardian',
      edited: false,
    });
    expect(payload.exp! - payload.iat!).toBe(60);

    expect((await consume(actionRequestId, paramsHash, by)).body.permit).toBe(consumed.body.permit);
    const again = await consume(actionRequestId, paramsHash);
    expect([again.status, again.body.error.code]).toEqual([409, 'ALREADY_CONSUMED']);

    const result = { outcome: 'succeeded', summary: 'Paid.', output: { id: 'p1' } };
    const told = await bot.post(`/action-requests/${actionRequestId}/result`, result);
    expect(told.body).toMatchObject({ status: 'completed', result });
    expect((await bot.post(`/action-requests/${actionRequestId}/result`, result)).status).toBe(200);
    const other = await bot.post(`/action-requests/${actionRequestId}/result`, {
      ...result,
      outcome: 'failed',
    });
    expect(other.status).toBe(409);
    expect(await actsOn(actionRequestId)).toEqual(['action.allowed', 'action.consumed', 'action.completed']);
  });

  it('is permitted no more once a kill has come since it was consumed', async () => {
    await allowedTool('pay.epoch');
    const { body } = await ask('pay.epoch', { order: 'E', amount: 5, currency: 'EUR' });
    const by = attempt();
    expect((await consume(body.actionRequestId, body.paramsHash, by)).body.permit).toBeDefined();
    await test.owner.post('/guardian/killswitch', { reason: 'Stop.' });
    await test.owner.post('/guardian/revert', { mode: 'resume', reason: 'Go on.' });
    const again = await consume(body.actionRequestId, body.paramsHash, by);
    expect([again.status, again.body.error.code, again.body.permit]).toEqual([
      409,
      'ALREADY_CONSUMED',
      undefined,
    ]);
  });

  it('takes nobody for no recipients, and a sum in another form for one that is beyond', async () => {
    const paramsSchema = { type: 'object', properties: { to: {}, amount: {} } };
    const described = { paramsSchema, recipientsPath: 'to', reversibility: 'reversible', risk: 'low' };
    expect((await admin.post('/tools', { name: 'pay.forms', ...described })).status).toBe(201);
    const match = { actionTypes: ['pay.forms'] };
    await desk.active({ name: 'To one', effect: 'allow', match, limits: { maxRecipients: 1 } });
    const beyond = { ...match, fields: { 'params.amount': { $gt: 500 } } };
    await desk.active({ name: 'Not so much', effect: 'deny', match: beyond });
    const strangers = { ...match, fields: { 'params.to': { $domainIn: ['evil.example'] } } };
    await desk.active({ name: 'Not to them', effect: 'deny', match: strangers });
    const outcome = async (params: object) => (await ask('pay.forms', params)).body.status;
    expect(await outcome({ to: 'a@acme.example', amount: 5 })).toBe('allowed');
    expect(await outcome({ to: [], amount: 5 })).toBe('pending');
    for (const amount of [501, '501', '5e2', [501], { value: 501 }])
      expect([amount, await outcome({ to: 'a@acme.example', amount })]).toEqual([amount, 'denied']);
    for (const to of ['x@evil.example', 'x@[evil.example]', 'evil.example', { address: 'x@evil.example' }])
      expect([to, await outcome({ to, amount: 5 })]).toEqual([to, 'denied']);
  });

  it('shares no Idempotency-Key with another agent of the same member, nor with the member', async () => {
    const made = await admin.post('/tokens', {
      name: 'Other',
      agent: { name: 'second-bot' },
      tools: ['crm.*'],
    });
    const other = new Client(test.url, made.body.token);
    const key = { 'Idempotency-Key': newId('req') };
    const body = { tool: 'pay.secret', params: { for: 'refund-bot alone' } };
    const first = await bot.send('POST', '/action-requests', body, key);
    expect(first.status).toBe(201);
    expect((await other.send('POST', '/action-requests', body, key)).status).toBe(403);
    const path = `/approvals/${first.body.approvalId}/reject`;
    expect((await admin.send('POST', path, { feedback: 'No.' }, key)).status).toBe(200);
    const again = await bot.send('POST', '/action-requests', body, key);
    expect(again.body.actionRequestId).toBe(first.body.actionRequestId);
  });

  it('asks beyond the limits, in another currency, and where no amount can be read', async () => {
    await allowedTool('pay.limited');
    const statusOf = async (amount: unknown, currency: string) =>
      (await ask('pay.limited', { order: 'B', amount, currency })).body.status;
    expect(await statusOf(40, 'EUR')).toBe('allowed');
    expect(await statusOf(40, 'EUR')).toBe('pending');
    expect(await statusOf(51, 'EUR')).toBe('pending');
    expect(await statusOf(1, 'USD')).toBe('pending');
  });
});

describe('an action that a person decides', () => {
  it('waits in the queue, is edited, approved, and consumed as it was approved', async () => {
    const asked = await ask('pay.unknown', { to: 'Karl', amount: 900 }, { reason: 'Karl said so.' });
    expect(asked.body).toMatchObject({
      status: 'pending',
      risk: 'high',
      reversibility: 'irreversible',
      title: 'pay.unknown',
    });
    const { actionRequestId, approvalId, paramsHash } = asked.body;
    expect((await consume(actionRequestId, paramsHash)).status).toBe(409);
    const approval = await approvalOf(approvalId);
    expect(approval).toMatchObject({
      kind: 'action',
      directiveId: null,
      actionRequestId,
      capo: null,
      requestedBy: { type: 'agent', name: 'refund-bot' },
      packets: [
        {
          action: { type: 'pay.unknown', params: { to: 'Karl', amount: 900 } },
          rationale: 'Karl said so.',
          writtenBy: 'agent',
        },
      ],
    });
    const params = { to: 'Karl', amount: 90 };
    const edited = await operator.send(
      'PATCH',
      `/approvals/${approvalId}`,
      { params },
      { 'If-Match': `"${approval.contentHash}"` },
    );
    expect(edited.status, JSON.stringify(edited.body)).toBe(200);
    const waiting = bot.get(`/action-requests/${actionRequestId}?wait=20`);
    const approved = await operator.send('POST', `/approvals/${approvalId}/approve`, undefined, {
      'If-Match': `"${edited.body.contentHash}"`,
    });
    expect(approved.body).toMatchObject({ status: 'approved', directiveId: null, directiveStatus: null });
    const decided = (await waiting).body;
    expect(decided).toMatchObject({
      status: 'approved',
      params: { to: 'Karl', amount: 900 },
      decision: { params },
    });
    expect(decided.paramsHash).not.toBe(paramsHash);
    expect((await consume(actionRequestId, paramsHash)).status).toBe(412);
    const consumed = await bot.post(`/action-requests/${actionRequestId}/consume`, {
      attempt: attempt(),
      params,
    });
    expect(consumed.body).toMatchObject({ status: 'consumed', decision: { params } });
    const { payload } = await jwtVerify(
      consumed.body.permit,
      createRemoteJWKSet(new URL(`${test.url}/.well-known/jwks.json`)),
      { currentDate: new Date(consumed.body.consumedAt) },
    );
    expect(payload).toMatchObject({ edited: true, aud: 'pay.unknown' });
  });

  it('shows an amount in cents as euros, in the title and beside it, also after an edit', async () => {
    const cents = { name: 'pay.cents', paramsSchema: PAY, amountUnit: 'minor' };
    const paths = { amountPath: 'amount', currencyPath: 'currency' };
    const titleTemplate = 'Refund {{amount}} {{currency}} for {{order}}';
    expect((await admin.post('/tools', { ...cents, ...paths, titleTemplate })).status).toBe(201);
    const params = { order: 'C-1', amount: 6000, currency: 'EUR' };
    const { approvalId, title } = (await ask('pay.cents', params)).body;
    expect(title).toBe('Refund 60.00 EUR for C-1');
    const approval = await approvalOf(approvalId);
    expect(approval).toMatchObject({ title, policy: { amount: '60.00 EUR' } });
    const edited = await operator.send(
      'PATCH',
      `/approvals/${approvalId}`,
      { params: { ...params, amount: 550 } },
      { 'If-Match': `"${approval.contentHash}"` },
    );
    expect(edited.status, edited.text).toBe(200);
    expect(await approvalOf(approvalId)).toMatchObject({
      title: 'Refund 5.50 EUR for C-1',
      policy: { amount: '5.50 EUR' },
    });
  });

  it('is asked for again as it was edited, by the terms for that, when other eyes are wanted by then', async () => {
    const editor = await desk.member('operator');
    await admin.post('/tools', {
      name: 'pay.eyes',
      paramsSchema: PAY,
      amountPath: 'amount',
      currencyPath: 'currency',
      titleTemplate: 'Pay {{amount}} {{currency}} for {{order}}',
    });
    const params = { order: 'A-17', amount: 900, currency: 'EUR' };
    const edited = { ...params, amount: 90 };
    const { body } = await ask('pay.eyes', params);
    const path = (approvalId: string) => `/approvals/${approvalId}`;
    const { contentHash } = await approvalOf(body.approvalId);
    await editor.send('PATCH', path(body.approvalId), { params: edited }, { 'If-Match': `"${contentHash}"` });
    const approved = await editor.post(`${path(body.approvalId)}/approve`);
    expect(approved.body.status, approved.text).toBe('approved');
    const order = { effect: 'require_approval', match: { actionTypes: ['pay.eyes'] } };
    await desk.active({ name: 'Other eyes', ...order, approval: { selfApproval: false } });
    const { paramsHash } = await read(body.actionRequestId);
    const refused = await consume(body.actionRequestId, paramsHash);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'APPROVAL_NOT_READY']);
    const again = await read(body.actionRequestId);
    expect(again).toMatchObject({ status: 'pending', paramsHash, params, decision: null });
    const asked = await approvalOf(again.approvalId);
    expect(asked).toMatchObject({ title: 'Pay 90 EUR for A-17', policy: { amount: '90.00 EUR' } });
    expect(asked.packets[0].action.params).toEqual(edited);
    expect((await editor.post(`${path(again.approvalId)}/approve`)).status).toBe(403);
    expect((await operator.post(`${path(again.approvalId)}/approve`)).status).toBe(200);
    expect((await consume(body.actionRequestId, paramsHash)).body).toMatchObject({
      status: 'consumed',
      decision: { params: edited },
    });
    const { text } = await admin.get('/audit-feed?format=jsonl');
    const { proofs } = await verifyLog(Readable.from([Buffer.from(text)]), test.workspaceId);
    expect(proofs.actions.faults).toEqual([]);
  });

  it('is told the reason of a rejection, and nothing is consumed', async () => {
    const asked = await ask('pay.unknown', { to: 'Eve' });
    const { actionRequestId, approvalId, paramsHash } = asked.body;
    await operator.post(`/approvals/${approvalId}/reject`, { feedback: 'Not to Eve.' });
    expect(await read(actionRequestId)).toMatchObject({
      status: 'rejected',
      decision: { feedback: 'Not to Eve.' },
    });
    expect((await consume(actionRequestId, paramsHash)).status).toBe(409);
  });
});

describe('a paced request that a person is asked about while it is taken back', () => {
  const acts: [string, (by: Client, id: string, tokenId: string) => Promise<Answer>][] = [
    ['cancelled', (by, id) => by.post(`/action-requests/${id}/cancel`)],
    ['withdrawn with its token', (_by, _id, tokenId) => admin.post(`/tokens/${tokenId}/pause`)],
  ];

  it.each(acts)('is %s together with the new approval', async (name, takeBack) => {
    const tool = `race.${name.split(' ', 1)[0]}`;
    const paramsSchema = { type: 'object', additionalProperties: false };
    await admin.post('/tools', { name: tool, paramsSchema, reversibility: 'reversible', risk: 'low' });
    const match = { actionTypes: [tool] };
    const pace = await desk.active({ name: tool, effect: 'allow', match });
    await desk.active({ name: `Pace ${tool}`, effect: 'throttle', match, limits: { maxPerHour: 1 } });
    const token = { name: tool, agent: { name: tool }, tools: [tool] };
    const { body: made } = await admin.post('/tokens', token);
    const agent = new Client(test.url, made.token);
    await agent.post('/action-requests', { tool, params: {} });
    const paced = (await agent.post('/action-requests', { tool, params: {} })).body;
    expect(paced).toMatchObject({ status: 'pending', approvalId: null, retryAt: expect.any(Number) });
    expect((await test.owner.send('DELETE', `/standing-orders/${pace}`)).status).toBe(200);
    await desk.active({ name: `Ask ${tool}`, effect: 'require_approval', match });

    const id = paced.actionRequestId;
    const blocker = await test.database.owner.connect();
    try {
      await blocker.query('begin');
      await blocker.query(`update action_requests set due_at = app.clock() where action_request_id = $1`, [
        id,
      ]);
      await test.rows(
        `insert into work_items (kind, id, workspace_id, queue, due_at) values ('action.due', $1, $2, $2, now())`,
        [id, test.workspaceId],
      );
      await eventually(async () => (await desk.waiting()) === 1 || undefined);
      const taken = takeBack(agent, id, made.tokenId);
      await eventually(async () => (await desk.waiting()) === 2 || undefined);
      await blocker.query('commit');
      expect((await taken).status).toBe(200);
    } finally {
      blocker.release();
    }
    const [request] = await test.rows<{ status: string; approval: string }>(
      `select r.status, a.status as approval from action_requests r join approvals a using (approval_id)
       where r.action_request_id = $1`,
      [id],
    );
    expect(request).toEqual({ status: 'cancelled', approval: 'cancelled' });
  });
});

describe('the kill switch', () => {
  it('voids what may be consumed for good, gives back what orders counted, and refuses new requests', async () => {
    await allowedTool('pay.killed');
    const asked = await ask('pay.killed', { order: 'K', amount: 50, currency: 'EUR' });
    expect(asked.body.status).toBe('allowed');
    const { actionRequestId, paramsHash } = asked.body;
    const waiting = (await ask('pay.unknown', { n: 1 })).body;
    const { halted } = (await test.owner.post('/guardian/killswitch', { reason: 'Stop.' })).body;
    expect(halted.voided).toBeGreaterThan(0);
    const [voided] = await test.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and action = 'action.voided' order by seq desc limit 1`,
      [test.workspaceId],
    );
    const { summary, details } = JSON.parse(voided!.body);
    expect(details.actionRequestIds).toHaveLength(halted.voided);
    expect(summary).toContain('"Pay 50 EUR for K" for refund-bot');
    test.clock.advance(60_000);
    expect((await consume(actionRequestId, paramsHash)).status).toBe(423);
    expect((await ask('pay.killed', { order: 'K2', amount: 1, currency: 'EUR' })).status).toBe(423);
    const reverted = await test.owner.post('/guardian/revert', { mode: 'resume', reason: 'Go on.' });
    expect(reverted.status, JSON.stringify(reverted.body)).toBeLessThan(300);
    await expect.poll(async () => (await test.owner.get('/guardian')).body.mode).toBe('guardrailed');
    // The clock of what waits for a person was stopped.
    const { expiresAt } = await approvalOf(waiting.approvalId);
    expect(expiresAt).toBeGreaterThanOrEqual(waiting.expiresAt + 60_000);
    expect(await read(waiting.actionRequestId)).toMatchObject({ status: 'pending', expiresAt });
    expect(await read(actionRequestId)).toMatchObject({ status: 'cancelled' });
    expect((await consume(actionRequestId, paramsHash)).status).toBe(409);
    // The day's limit of 60 has room again.
    expect((await ask('pay.killed', { order: 'K3', amount: 50, currency: 'EUR' })).body.status).toBe(
      'allowed',
    );
  });
});

describe('a request that is refused', () => {
  it.each([
    ['a tool that the token does not name', { tool: 'mail.send' }, 403],
    ['a name of our own action types', { tool: 'email.send' }, 422],
    ['a star', { tool: '*' }, 422],
    ['capitals', { tool: 'Pay.invoice' }, 422],
    ['an integer past 2^53', { params: { n: 2 ** 53 } }, 422],
    ['more than 64 KB', { params: { text: 'x'.repeat(70_000) } }, 422],
    ['a reason that cannot be seen whole', { reason: 'Paid\u202e.' }, 422],
    ['a reason with a control character', { reason: 'Paid\u001b[2K.' }, 422],
    ['a reason of nothing', { reason: ' ' }, 422],
    ['a reason of 501 characters', { reason: 'x'.repeat(501) }, 422],
  ])('for %s says so, and keeps nothing', async (_what, asked, status) => {
    const before = await test.rows('select count(*) from action_requests');
    const answer = await bot.post('/action-requests', { tool: 'pay.unknown', params: {}, ...asked });
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(await test.rows('select count(*) from action_requests')).toEqual(before);
  });

  it('for another content under the same externalId; the same one is answered as it is now', async () => {
    const first = await ask('pay.unknown', { a: 1 }, { externalId: 'x-1' });
    const same = await ask('pay.unknown', { a: 1 }, { externalId: 'x-1' });
    expect([first.status, same.status, same.body.actionRequestId]).toEqual([
      201,
      200,
      first.body.actionRequestId,
    ]);
    expect((await ask('pay.unknown', { a: 2 }, { externalId: 'x-1' })).status).toBe(409);
  });

  it('for an externalId of its token that stands for a request in a team which its member has left', async () => {
    const [from, to] = [
      await test.createTeam(test.workspaceId, 'From'),
      await test.createTeam(test.workspaceId, 'To'),
    ];
    const member = await test.createMember(test.workspaceId, 'operator', [from]);
    await leaveActionRequest(member, { teamId: from, externalId: 'x-2' });
    await leaveQuestion(member, { teamId: from, externalId: 'x-2' });
    await test.rows('update team_members set team_id = $1 where member_id = $2', [to, member.memberId]);
    const again = new Client(test.url, member.token);
    const body = { teamId: to, externalId: 'x-2' };
    const action = () => again.post('/action-requests', { tool: 'pay.unknown', params: {}, ...body });
    await expect.poll(async () => (await action()).status).not.toBe(404);
    const question = { title: 'Which plan?', answerSchema: PLAN, ...body };
    for (const answer of [await action(), await again.post('/questions', question)]) {
      expect([answer.status, answer.body.error.code]).toEqual([409, 'ALREADY_EXISTS']);
    }
  });
});

describe('what waits of one agent', () => {
  /** An agent with so many copies of what it asked first. */
  async function agentWith(copies: number) {
    const name = `flood-${newId('req')}`;
    const { body } = await admin.post('/tokens', { name, agent: { name }, tools: ['pay.*'] });
    const agent = new Client(test.url, body.token);
    const asking = (n: number) => agent.post('/action-requests', { tool: 'pay.unknown', params: { n } });
    const asksPeople = (n: number) => agent.post('/questions', { title: `Plan ${n}?`, answerSchema: PLAN });
    const first = (await asking(0)).body;
    const question = (await asksPeople(0)).body;
    await test.rows(
      `insert into action_requests select (jsonb_populate_record(a, jsonb_build_object(
         'action_request_id', 'act_' || md5($1 || n), 'approval_id', null))).*
       from action_requests a, generate_series(1, $2::int) n where action_request_id = $1`,
      [first.actionRequestId, copies],
    );
    await test.rows(
      `insert into approvals select (jsonb_populate_record(a, jsonb_build_object(
         'approval_id', 'apr_' || md5($1 || n), 'question_id', 'qst_' || md5($1 || n)))).*
       from approvals a, generate_series(1, $2::int) n where question_id = $1`,
      [question.questionId, copies],
    );
    return { agent, first, asking, asksPeople };
  }

  it('is at most 100 requests and 100 questions, however many come at once', async () => {
    const { agent, first, asking, asksPeople } = await agentWith(97);
    for (const asked of [asking, asksPeople]) {
      const answers = await Promise.all([1, 2, 3, 4, 5].map(asked));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409, 409]);
      const refused = answers.find(({ status }) => status === 409)!.body;
      expect(refused.error).toMatchObject({ code: 'TOO_MANY_PENDING', message: expect.any(String) });
    }
    await agent.post(`/action-requests/${first.actionRequestId}/cancel`);
    expect((await asking(6)).status).toBe(201);
    expect((await asking(7)).status).toBe(409);
    await allowedTool('pay.while-full');
    const params = { order: 'A-1', amount: 1, currency: 'EUR' };
    const allowed = await agent.post('/action-requests', { tool: 'pay.while-full', params });
    expect([allowed.status, allowed.body.status]).toEqual([201, 'allowed']);
    await test.rows(`delete from approvals where approval_id ~ '^apr_[0-9a-f]{32}$'`);
    await test.rows(`delete from action_requests where action_request_id ~ '^act_[0-9a-f]{32}$'`);
  });

  it('is urgent when its time runs out or an admin says that the tool is critical, and not since nobody knows the tool', async () => {
    await admin.post('/tools', { name: 'pay.critical', paramsSchema: { type: 'object' }, risk: 'critical' });
    const urgency = async (tool: string, more: object = {}) =>
      (await approvalOf((await ask(tool, {}, more)).body.approvalId)).urgent;
    expect(await urgency('pay.unknown')).toBe(false);
    expect(await urgency('pay.unknown', { expiresInSeconds: 3_600 })).toBe(true);
    expect(await urgency('pay.critical')).toBe(true);
  });
});

describe('a token that is paused', () => {
  it('can still report what it has done, and do nothing else', async () => {
    await allowedTool('pay.paused');
    const name = 'paused-bot';
    const { body: token } = await admin.post('/tokens', { name, agent: { name }, tools: ['pay.*'] });
    const agent = () => new Client(test.url, token.token);
    const params = { order: 'A-18', amount: 2, currency: 'EUR' };
    const asked = await agent().post('/action-requests', { tool: 'pay.paused', params, consume: true });
    expect(asked.body.status).toBe('consumed');
    await admin.post(`/tokens/${token.tokenId}/pause`);
    const path = `/action-requests/${asked.body.actionRequestId}`;
    await expect.poll(async () => (await agent().get(path)).status).toBe(403);
    const report = { outcome: 'succeeded', summary: 'Paid.' };
    const reported = await agent().post(`${path}/result`, report);
    expect([reported.status, reported.body.status], reported.text).toEqual([200, 'completed']);
    expect((await agent().post(`${path}/cancel`)).status).toBe(403);
    await admin.delete(`/tokens/${token.tokenId}`);
    await expect.poll(async () => (await agent().post(`${path}/result`, report)).status).toBe(401);
  });

  it('has nothing left to consume', async () => {
    const made = await admin.post('/tokens', {
      name: 'Other',
      agent: { name: 'other-bot' },
      tools: ['pay.*'],
    });
    const other = new Client(test.url, made.body.token);
    const asked = await other.post('/action-requests', { tool: 'pay.unknown', params: { a: 1 } });
    const { actionRequestId, approvalId, createdAt } = asked.body;
    expect((await bot.get(`/action-requests/${actionRequestId}`)).status).toBe(404);
    test.clock.advance(60_000);
    expect((await admin.post(`/tokens/${made.body.tokenId}/pause`)).status).toBe(200);
    const { status, decidedAt } = await approvalOf(approvalId);
    expect([status, decidedAt >= createdAt + 60_000]).toEqual(['cancelled', true]);
    expect((await admin.get(`/action-requests/${actionRequestId}`)).body.status).toBe('cancelled');
  });
});

describe('time', () => {
  it('ends what nobody consumes, and gives back what orders counted', async () => {
    await allowedTool('pay.late');
    const { actionRequestId, paramsHash } = (
      await ask('pay.late', { order: 'L', amount: 50, currency: 'EUR' })
    ).body;
    test.clock.advance(901_000);
    await expect.poll(async () => (await read(actionRequestId)).status).toBe('expired');
    const late = await consume(actionRequestId, paramsHash);
    expect([late.status, late.body.error.code]).toEqual([410, 'ACTION_EXPIRED']);
    expect((await ask('pay.late', { order: 'L2', amount: 50, currency: 'EUR' })).body.status).toBe('allowed');
  });

  it('asks a person where no result comes, and takes the result still', async () => {
    await allowedTool('pay.silent');
    const { actionRequestId, paramsHash } = (
      await ask('pay.silent', { order: 'S', amount: 5, currency: 'EUR' })
    ).body;
    expect((await consume(actionRequestId, paramsHash)).status).toBe(200);
    test.clock.advance(901_000);
    await expect.poll(async () => (await read(actionRequestId)).status).toBe('unconfirmed');
    const openAbout = async () =>
      (await operator.get('/escalations')).body.items.filter((one: any) => one.entity.id === actionRequestId);
    expect(await openAbout()).toMatchObject([{ kind: 'action_unconfirmed' }]);
    const tell = (summary: string) =>
      bot.post(`/action-requests/${actionRequestId}/result`, { outcome: 'succeeded', summary });
    const unseen = await tell('Done\u200b.');
    expect([unseen.status, unseen.body.error.details]).toMatchObject([422, [{ path: 'summary' }]]);
    expect((await tell('Done.')).body.status).toBe('completed');
    expect(await openAbout()).toEqual([]);
  });
});

describe('work that failed too often', () => {
  const giveUp = (kind: string, id: string) =>
    test.rows(
      // What falls due here is not enqueued by the sweep first.
      `with due as (update action_requests set due_at = now() where action_request_id = $2)
       insert into work_items (kind, id, workspace_id, queue, due_at, failures, last_error)
       values ($1, $2, $3, $3, now(), 5, '{"code": "UNEXPECTED", "message": "It failed."}')`,
      [kind, id, test.workspaceId],
    );

  it('ends a request with a receipt, gives back what orders counted, and asks a person about what was consumed', async () => {
    await allowedTool('pay.stuck');
    const allowed = await ask('pay.stuck', { order: 'S', amount: 50, currency: 'EUR' });
    await allowedTool('pay.lost');
    const taken = await ask('pay.lost', { order: 'L', amount: 5, currency: 'EUR' });
    expect([allowed.body.status, taken.body.status]).toEqual(['allowed', 'allowed']);
    expect((await consume(taken.body.actionRequestId, taken.body.paramsHash)).status).toBe(200);
    for (const { body } of [allowed, taken]) await giveUp('action.due', body.actionRequestId);
    const statuses = () =>
      Promise.all([allowed, taken].map(async ({ body }) => (await read(body.actionRequestId)).status));
    await expect.poll(statuses).toEqual(['expired', 'unconfirmed']);
    expect((await actsOn(allowed.body.actionRequestId)).at(-1)).toBe('action.expired');
    expect((await actsOn(taken.body.actionRequestId)).at(-1)).toBe('action.unconfirmed');
    const about = taken.body.actionRequestId;
    const open = (await operator.get('/escalations')).body.items;
    expect(open.filter((one: any) => one.entity.id === about)).toMatchObject([
      { kind: 'action_unconfirmed' },
    ]);
    const again = await ask('pay.stuck', { order: 'S2', amount: 50, currency: 'EUR' });
    expect(again.body.status).toBe('allowed');
  });

  it('ends an approval alone, and then its request', async () => {
    const { actionRequestId, approvalId } = (await ask('pay.unknown', { n: 1 })).body;
    await giveUp('approval.expire', approvalId);
    await expect.poll(async () => (await read(actionRequestId)).status).toBe('expired');
    expect((await approvalOf(approvalId)).status).toBe('expired');
    expect((await actsOn(actionRequestId)).at(-1)).toBe('action.expired');
  });
});

describe('an action of which no result came', () => {
  it.each([
    ['arrived', 'done', 'completed', 'action.confirmed'],
    ['did_not_arrive', 'not done', 'failed', 'action.not_done'],
  ])('is recorded by a person as %s, until the agent reports', async (decision, found, status, action) => {
    const tool = `pay.found_${status}`;
    await allowedTool(tool);
    const asked = await ask(tool, { order: 'F', amount: 5, currency: 'EUR' });
    const { actionRequestId, paramsHash } = asked.body;
    expect((await consume(actionRequestId, paramsHash)).status).toBe(200);
    test.clock.advance(901_000);
    await expect.poll(async () => (await read(actionRequestId)).status).toBe('unconfirmed');
    const { items } = (await operator.get('/escalations')).body;
    const { escalationId, options } = items.find((one: any) => one.entity.id === actionRequestId);
    expect(options).toEqual(['arrived', 'did_not_arrive', 'dismiss']);
    const decided = await operator.post('/escalations/decide', { escalationId, decision });
    expect(decided.status, decided.text).toBe(200);
    const summary = expect.stringMatching(new RegExp(`^.+ found out that it was ${found}\\.$`));
    expect(decided.body).toMatchObject({ status: 'resolved', outcome: summary });
    const outcome = status === 'completed' ? 'succeeded' : 'failed';
    const foundBy = expect.objectContaining({ type: 'member' });
    expect(await read(actionRequestId)).toMatchObject({
      status,
      result: { outcome, summary, output: null, foundBy },
    });
    expect((await actsOn(actionRequestId)).at(-1)).toBe(action);
    const result = { outcome: 'succeeded', summary: 'It was done late.' };
    const told = await bot.post(`/action-requests/${actionRequestId}/result`, result);
    expect(told.status, told.text).toBe(200);
    expect(told.body).toMatchObject({ status: 'completed', result });
    expect(told.body.result.foundBy).toBeUndefined();
    const other = { ...result, summary: 'Or was it?' };
    expect((await bot.post(`/action-requests/${actionRequestId}/result`, other)).status).toBe(409);
    const { text } = await admin.get('/audit-feed?format=jsonl');
    const { proofs } = await verifyLog(Readable.from([Buffer.from(text)]), test.workspaceId);
    expect(proofs.actions.faults).toEqual([]);
  });
});

it('is not consumed by the token of a member who may no longer act in its team', async () => {
  const teamId = await test.createTeam(test.workspaceId, 'Payments');
  const other = await test.createTeam(test.workspaceId, 'Support');
  const member = await test.createMember(test.workspaceId, 'operator', [teamId, other]);
  const { actionRequestId, approvalId, paramsHash } = await leaveActionRequest(member, { teamId });
  expect((await admin.post(`/approvals/${approvalId}/approve`)).status).toBe(200);
  const change = `update team_members set role = 'viewer' where member_id = $1 and team_id = $2`;
  await test.rows(change, [member.memberId, teamId]);
  // For half a second the roles of a caller are remembered.
  test.clock.advance(1_000);
  const body = { attempt: attempt(), paramsHash };
  const refused = await member.post(`/action-requests/${actionRequestId}/consume`, body);
  expect(refused.status, refused.text).toBe(403);
});

describe('the receipts', () => {
  it('prove every decision again, uses and all', async () => {
    const proof = new DecisionProof();
    const receipts = await test.rows<{ seq: string; body: string }>(
      'select seq, body from receipts where workspace_id = $1 order by seq',
      [test.workspaceId],
    );
    for (const { seq, body } of receipts) proof.receipt(Number(seq), JSON.parse(body));
    const decided = await test.rows(`select 1 from policy_decisions where work_packet_id like 'act_%'`);
    expect(decided.length).toBeGreaterThan(8);
    expect(proof).toMatchObject({ decisions: decided.length, equal: decided.length, unknown: 0, faults: [] });
    expect((await test.owner.get('/audit-feed/verify')).body).toMatchObject({ ok: true, faults: [] });

    const open = new OpenWork();
    for (const { seq, body } of receipts) open.receipt(Number(seq), JSON.parse(body));
    const pending = await test.rows<{ approval_id: string }>(
      `select approval_id from approvals where workspace_id = $1 and status = 'pending'`,
      [test.workspaceId],
    );
    expect(open.pendingIds.toSorted()).toEqual(pending.map((one) => one.approval_id).toSorted());
  });
});
