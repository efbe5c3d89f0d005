import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OpenWork } from '../../../src/features/verifier/open-work.js';
import { Client } from '../../support/client.js';
import { startService } from '../../support/processes.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { PLAN } from './question-rows.js';

let test: TestApp;
let admin: TestMember;
let operator: TestMember;
let viewer: TestMember;
let bot: Client;
let botToken: { tokenId: string; token: string };

beforeAll(async () => {
  test = await startTestApp();
  admin = await test.createMember(test.workspaceId, 'admin');
  operator = await test.createMember(test.workspaceId, 'operator');
  viewer = await test.createMember(test.workspaceId, 'viewer');
  botToken = await tokenOf('plan-bot');
  bot = new Client(test.url, botToken.token);
});
afterAll(() => test.close());

const tokenOf = async (name: string) =>
  (await admin.post('/tokens', { name, agent: { name }, tools: ['crm.*'] })).body;
/** Each call from an address of its own, out of the way of the limits. */
const afresh = ({ token }: { token: string }) => new Client(test.url, token);
const ask = (more: object = {}, by = afresh(botToken)) =>
  by.post('/questions', { title: 'Which plan?', answerSchema: PLAN, ...more });
const respond = (approvalId: string, answer: object, by: Client = afresh(operator), headers = {}) =>
  by.send('POST', `/approvals/${approvalId}/respond`, { answer }, headers);
const read = async (questionId: string) => (await bot.get(`/questions/${questionId}`)).body;
const receiptsOf = (approvalId: string) =>
  test.rows<{ body: string }>('select body from receipts where entity_id = $1 order by seq', [approvalId]);
const actsOn = async (approvalId: string) =>
  (await receiptsOf(approvalId)).map(({ body }) => JSON.parse(body).action);
const questions = () => test.rows(`select approval_id from approvals where kind = 'question'`);

describe('a question', () => {
  it('waits in the queue in words of ours, is answered by a person, and its agent hears the answer', async () => {
    const asked = await ask({ reason: 'Karl wants both.', externalId: 'plan-1' });
    expect(asked.status, asked.text).toBe(201);
    const { questionId, approvalId } = asked.body;
    expect(asked.body).toMatchObject({
      questionId: expect.stringMatching(/^qst_/),
      title: 'Which plan?',
      answerSchema: PLAN,
      reason: 'Karl wants both.',
      agent: { name: 'plan-bot', tokenId: botToken.tokenId },
      status: 'pending',
      answer: null,
      answeredBy: null,
    });
    expect(await read(questionId)).toEqual(asked.body);
    const queue = (await operator.get('/approvals')).body.items;
    expect(queue.find((one: any) => one.approvalId === approvalId)).toMatchObject({
      kind: 'question',
      questionId,
      directiveId: null,
      title: 'Question from plan-bot',
      summary: 'plan-bot asks: Which plan?',
      waitingFor: { reason: 'decision' },
      requestedBy: { type: 'agent', name: 'plan-bot' },
    });
    const approval = (await operator.get(`/approvals/${approvalId}`)).body;
    expect(approval.question).toEqual({
      title: 'Which plan?',
      answerSchema: PLAN,
      reason: 'Karl wants both.',
    });

    const waiting = bot.get(`/questions/${questionId}?wait=20`);
    const other = await respond(approvalId, { plan: 'pro' }, operator, { 'If-Match': `"${'0'.repeat(64)}"` });
    expect(other.status).toBe(412);
    const answered = await respond(approvalId, { plan: 'pro' }, operator, {
      'If-Match': `"${approval.contentHash}"`,
    });
    expect([answered.status, answered.body]).toMatchObject([200, { status: 'approved', directiveId: null }]);
    expect((await waiting).body).toMatchObject({
      status: 'answered',
      answer: { plan: 'pro' },
      answeredBy: { type: 'member', id: operator.memberId },
      receiptId: answered.body.receiptId,
    });
    expect(await actsOn(approvalId)).toEqual(['approval.requested', 'approval.answered']);
    expect((await operator.get(`/approvals/${approvalId}`)).body).toMatchObject({ answer: { plan: 'pro' } });

    expect((await respond(approvalId, { plan: 'pro' })).body).toEqual(answered.body);
    expect((await respond(approvalId, { plan: 'basic' })).status).toBe(409);
    expect((await operator.post(`/approvals/${approvalId}/reject`, { feedback: 'No.' })).status).toBe(409);
  });

  it('is declined with a reason, which its agent reads', async () => {
    const { questionId, approvalId } = (await ask()).body;
    expect((await operator.post(`/approvals/${approvalId}/reject`, { feedback: 'Ask Karl.' })).status).toBe(
      200,
    );
    expect(await read(questionId)).toMatchObject({ status: 'declined', feedback: 'Ask Karl.', answer: null });
    expect(await actsOn(approvalId)).toEqual(['approval.requested', 'approval.rejected']);
    expect((await respond(approvalId, { plan: 'pro' })).status).toBe(409);
  });

  it('is cancelled by its agent, and is out of the queue', async () => {
    const { questionId, approvalId } = (await ask()).body;
    const cancelled = await bot.post(`/questions/${questionId}/cancel`);
    expect(cancelled.body).toMatchObject({
      status: 'cancelled',
      feedback: expect.stringContaining('took it back'),
    });
    expect((await bot.post(`/questions/${questionId}/cancel`)).body).toEqual(cancelled.body);
    const late = await respond(approvalId, { plan: 'pro' });
    expect([late.status, late.body.error.code]).toEqual([409, 'APPROVAL_ALREADY_DECIDED']);
    expect(await actsOn(approvalId)).toEqual(['approval.requested', 'approval.cancelled']);
  });

  it('expires, and is answered no more', async () => {
    const { questionId, approvalId } = (await ask({ expiresInSeconds: 3_600 })).body;
    await test.rows(`update approvals set expires_at = now() where approval_id = $1`, [approvalId]);
    expect((await respond(approvalId, { plan: 'pro' })).status).toBe(410);
    await expect.poll(async () => (await read(questionId)).status).toBe('expired');
    expect(await actsOn(approvalId)).toEqual(['approval.requested', 'approval.expired']);
    const escalations = (await operator.get('/escalations')).body.items;
    const { reason } = escalations.find((one: any) => one.entity.id === approvalId);
    expect(reason).toContain('Question from plan-bot');
    expect(reason).not.toContain('Which plan?');
  });

  it('of the same name and content is answered as it is now, of another content refused', async () => {
    const [first, second] = await Promise.all([ask({ externalId: 'x' }), ask({ externalId: 'x' })]);
    expect([first.status, second.status].toSorted()).toEqual([200, 201]);
    expect(first.body.questionId).toBe(second.body.questionId);
    await respond(first.body.approvalId, { plan: 'basic' });
    const again = await ask({ externalId: 'x' });
    expect([again.status, again.body]).toMatchObject([
      200,
      { status: 'answered', answer: { plan: 'basic' } },
    ]);
    const other = await ask({ externalId: 'x', title: 'Another?' });
    expect([other.status, other.body.error.code]).toEqual([409, 'ALREADY_EXISTS']);
  });

  it('is listed newest first, by status and agent, and an agent sees its own', async () => {
    const others = new Client(test.url, (await tokenOf('other-bot')).token);
    const { questionId, approvalId } = (await ask({}, others)).body;
    const list = async (query: string, by: Client) => (await by.get(`/questions?${query}`)).body.items;
    expect((await list('limit=1', operator))[0]).toMatchObject({ questionId, status: 'pending' });
    expect(await list('agent=other-bot', operator)).toHaveLength(1);
    expect(await list('status=answered&agent=other-bot', operator)).toEqual([]);
    expect((await list('limit=100', bot)).some((one: any) => one.questionId === questionId)).toBe(false);
    expect((await bot.get(`/questions/${questionId}`)).status).toBe(404);
    expect((await bot.post(`/questions/${questionId}/cancel`)).status).toBe(404);
    const page = (await operator.get('/questions?limit=1')).body;
    const next = (await operator.get(`/questions?limit=1&cursor=${page.nextCursor}`)).body;
    expect(next.items[0].questionId < page.items[0].questionId).toBe(true);
    expect((await respond(approvalId, { plan: 'pro' }, others)).status).toBe(403);
  });
});

describe('a decision that does not fit', () => {
  it('is refused: approving, editing, sending back, answering a draft, a viewer, the agent itself', async () => {
    const { approvalId } = (await ask()).body;
    const { contentHash } = (await operator.get(`/approvals/${approvalId}`)).body;
    const match = { 'If-Match': `"${contentHash}"` };
    const approved = await operator.post(`/approvals/${approvalId}/approve`);
    expect([approved.status, approved.body.error.message]).toEqual([409, expect.stringContaining('respond')]);
    const bulk = await operator.post('/approvals', { decisions: [{ approvalId, decision: 'approve' }] });
    expect(bulk.body.results).toMatchObject([{ error: { status: 409, code: 'INVALID_TRANSITION' } }]);
    const edits = [{ params: { plan: 'pro' } }, { output: { body: 'Pro.' } }];
    for (const edit of edits)
      expect((await operator.send('PATCH', `/approvals/${approvalId}`, edit, match)).status).toBe(409);
    const revise = { feedback: 'Ask better.', revise: true };
    expect((await operator.post(`/approvals/${approvalId}/reject`, revise)).status).toBe(409);
    expect((await respond(approvalId, { plan: 'pro' }, viewer)).status).toBe(403);
    expect((await respond(approvalId, { plan: 'pro' }, bot)).status).toBe(403);
    const draft = (await operator.post('/directive', { text: 'File this memo: Friday.' })).body;
    expect((await respond(draft.approvalId, { plan: 'pro' })).status).toBe(409);
    expect(await actsOn(approvalId)).toEqual(['approval.requested']);
    expect((await respond(approvalId, { plan: 'pro' })).status).toBe(200);
  });
});

const FIELDS = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 5, title: 'Name', description: 'As on the card.' },
    mail: { type: 'string', format: 'email' },
    site: { type: 'string', format: 'uri' },
    day: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    plan: {
      type: 'string',
      oneOf: [
        { const: 'p', title: 'Pro' },
        { const: 'b', title: 'Basic' },
      ],
      default: 'b',
    },
    size: { type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'Large'] },
    seats: { type: 'integer', minimum: 1, maximum: 9 },
    price: { type: 'number' },
    yearly: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1, maxItems: 2 },
    regions: { type: 'array', items: { anyOf: [{ const: 'eu', title: 'Europe' }] } },
  },
  required: ['name', 'seats'],
};

describe('an answer', () => {
  it('is checked by every rule of the schema, and each field that is wrong is named', async () => {
    const { approvalId } = (await ask({ answerSchema: FIELDS })).body;
    const wrong = {
      name: 'x',
      mail: 'jane at acme',
      site: 'example',
      day: '2026-02-30',
      at: '2026-02-28 09:30',
      plan: 'Pro',
      size: 'm',
      price: '5',
      yearly: 'yes',
      tags: 'a',
      regions: ['us'],
      more: 1,
    };
    const refused = await respond(approvalId, wrong);
    expect(refused.status).toBe(422);
    const paths = refused.body.error.details.map((one: any) => one.path.split('.').slice(0, 2).join('.'));
    expect(paths.toSorted()).toEqual(
      ['seats', ...Object.keys(wrong)].map((name) => `answer.${name}`).toSorted(),
    );
    const seats = refused.body.error.details.find((one: any) => one.path === 'answer.seats');
    expect(seats.message).toBe('answer.seats must be given');
    const wrongOnes: [string, unknown][] = [
      ['name', 'longer'],
      ['name', 5],
      ['seats', 1.5],
      ['seats', 10],
      ['tags', []],
      ['tags', ['a', 'b', 'c']],
      ['name', ''],
      ['at', '2026-02-30T09:30:00Z'],
    ];
    for (const [name, value] of wrongOnes) {
      const answer = await respond(approvalId, { name: 'Jane', seats: 3, [name]: value });
      expect([answer.status, answer.body.error?.details], name).toMatchObject([
        422,
        [{ path: `answer.${name}` }],
      ]);
    }
    const right = {
      name: 'Jané👍',
      mail: 'jane@acme.example',
      site: 'https://acme.example/a?b',
      day: '2028-02-29',
      at: '2026-02-28T09:30:00+01:00',
      plan: 'p',
      size: 'l',
      seats: 9,
      price: -0.5,
      yearly: false,
      tags: ['c', 'a'],
      regions: [],
    };
    expect((await respond(approvalId, right)).status).toBe(200);
  });
});

describe('a question that is refused', () => {
  const field = (one: unknown) => ({ type: 'object', properties: { plan: one } });
  const nested = { type: 'object', properties: { x: { type: 'string' } } };
  it.each([
    ['no schema', { answerSchema: undefined }, 'answerSchema'],
    ['a list', { answerSchema: [] }, 'answerSchema'],
    ['another type', { answerSchema: { ...PLAN, type: 'array' } }, 'answerSchema.type'],
    ['no fields', { answerSchema: { type: 'object', properties: {} } }, 'answerSchema.properties'],
    [
      'too many fields',
      {
        answerSchema: {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 21 }, (_, i) => [`f${i}`, { type: 'boolean' }]),
          ),
        },
      },
      'answerSchema.properties',
    ],
    [
      'more than 16 KB',
      { answerSchema: field({ type: 'string', description: 'x'.repeat(17_000) }) },
      'answerSchema',
    ],
    ['a nested object', { answerSchema: field(nested) }, 'answerSchema.properties.plan.type'],
    [
      'an unknown keyword',
      { answerSchema: { ...PLAN, additionalProperties: true } },
      'answerSchema.additionalProperties',
    ],
    [
      'a pattern',
      { answerSchema: field({ type: 'string', pattern: '(a+)+$' }) },
      'answerSchema.properties.plan.pattern',
    ],
    ['a $ref', { answerSchema: field({ type: 'string', $ref: '#' }) }, 'answerSchema.properties.plan.$ref'],
    [
      'another format',
      { answerSchema: field({ type: 'string', format: 'regex' }) },
      'answerSchema.properties.plan.format',
    ],
    [
      'a keyword of another type',
      { answerSchema: field({ type: 'boolean', minLength: 1 }) },
      'answerSchema.properties.plan.minLength',
    ],
    [
      'a default that does not fit',
      { answerSchema: field({ type: 'integer', default: 'x' }) },
      'answerSchema.properties.plan.default',
    ],
    [
      'bounds that nothing meets',
      { answerSchema: field({ type: 'number', minimum: 2, maximum: 1 }) },
      'answerSchema.properties.plan',
    ],
    [
      'names that do not match',
      { answerSchema: field({ type: 'string', enum: ['a'], enumNames: [] }) },
      'answerSchema.properties.plan.enumNames',
    ],
    [
      'a list without choices',
      { answerSchema: field({ type: 'array' }) },
      'answerSchema.properties.plan.items',
    ],
    [
      'a list of objects',
      { answerSchema: field({ type: 'array', items: nested }) },
      'answerSchema.properties.plan.items',
    ],
    [
      'a required field that is none',
      { answerSchema: { ...PLAN, required: ['other'] } },
      'answerSchema.required',
    ],
    [
      'a name with a point',
      { answerSchema: { type: 'object', properties: { 'a.b': { type: 'boolean' } } } },
      'answerSchema.properties.a.b',
    ],
    [
      'what cannot be seen',
      { answerSchema: field({ type: 'boolean', title: 'Yes\u2800?' }) },
      'answerSchema.properties.plan.title',
    ],
    ['a title of two lines', { title: 'Which?\nConsigliere asks:' }, 'title'],
    ['a title that cannot be seen whole', { title: 'Which\u202e?' }, 'title'],
    ['a reason that cannot be seen whole', { reason: 'Pa\u00adid.' }, 'reason'],
    ['a reason of 501 characters', { reason: 'x'.repeat(501) }, 'reason'],
    ['too short a time', { expiresInSeconds: 59 }, 'expiresInSeconds'],
    ['a name of its own', { agent: 'Consigliere' }, 'agent'],
  ])('for %s names it, and keeps nothing', async (_what, more, path) => {
    const before = await questions();
    const answer = await ask(more);
    expect([answer.status, answer.body.error.details?.map((one: any) => one.path)]).toEqual([
      422,
      expect.arrayContaining([path]),
    ]);
    expect(await questions()).toEqual(before);
  });
});

describe('the kill switch', () => {
  it('refuses questions and answers, takes a decline, and gives the time back', async () => {
    const open = (await ask({ expiresInSeconds: 600 })).body;
    const declined = (await ask()).body;
    await test.owner.post('/guardian/killswitch', { reason: 'Stop.' });
    const before = await questions();
    expect((await ask()).status).toBe(423);
    expect(await questions()).toEqual(before);
    expect((await respond(open.approvalId, { plan: 'pro' })).status).toBe(423);
    expect(
      (await operator.post(`/approvals/${declined.approvalId}/reject`, { feedback: 'No.' })).status,
    ).toBe(200);
    test.clock.advance(3_600_000);
    expect(await read(open.questionId)).toMatchObject({
      status: 'pending',
      expiresAt: expect.any(Number),
    });
    await test.owner.post('/guardian/revert', { mode: 'resume', reason: 'Go on.' });
    await expect.poll(async () => (await test.owner.get('/guardian')).body.mode).toBe('guardrailed');
    const { expiresAt } = await read(open.questionId);
    expect(expiresAt).toBeGreaterThan(open.expiresAt + 3_500_000);
    expect((await respond(open.approvalId, { plan: 'pro' })).status).toBe(200);
  });

  it('is not needed to answer while the guardian only observes: nothing leaves with an answer', async () => {
    await test.owner.send('PUT', '/guardian/mode', { mode: 'observe' });
    const { approvalId } = (await ask()).body;
    expect((await operator.get(`/approvals/${approvalId}`)).body.waitingFor.reason).toBe('decision');
    expect((await respond(approvalId, { plan: 'pro' })).status).toBe(200);
    await test.owner.send('PUT', '/guardian/mode', { mode: 'guardrailed' });
  });
});

describe('a token that is stopped', () => {
  it('takes its open questions back, and leaves those that are decided', async () => {
    const token = await tokenOf('stopped-bot');
    const stopped = new Client(test.url, token.token);
    const [open, answered] = [(await ask({}, stopped)).body, (await ask({ title: 'Else?' }, stopped)).body];
    await respond(answered.approvalId, { plan: 'pro' });
    expect((await admin.post(`/tokens/${token.tokenId}/pause`)).status).toBe(200);
    const statusOf = async ({ questionId }: any) =>
      (await operator.get(`/questions/${questionId}`)).body.status;
    expect([await statusOf(open), await statusOf(answered)]).toEqual(['cancelled', 'answered']);
    expect(await actsOn(open.approvalId)).toEqual(['approval.requested', 'approval.cancelled']);
  });
});

describe('the receipts', () => {
  it('tell which questions are open, and an answer by its hash alone', async () => {
    const { approvalId } = (await ask({ title: 'Open?' })).body;
    const secret = (await ask({ answerSchema: { type: 'object', properties: { note: { type: 'string' } } } }))
      .body;
    await respond(secret.approvalId, { note: 'between you and me' });
    const receipts = await test.rows<{ seq: string; body: string }>(
      'select seq, body from receipts where workspace_id = $1 order by seq',
      [test.workspaceId],
    );
    const open = new OpenWork();
    for (const { seq, body } of receipts) open.receipt(Number(seq), JSON.parse(body));
    const pending = await test.rows<{ approval_id: string }>(
      `select approval_id from approvals where workspace_id = $1 and status = 'pending'`,
      [test.workspaceId],
    );
    expect(open.pendingIds.toSorted()).toEqual(pending.map((one) => one.approval_id).toSorted());
    expect(open.pendingIds).toContain(approvalId);
    const [, answered] = await receiptsOf(secret.approvalId);
    expect(JSON.parse(answered!.body).details).toEqual({
      contentHash: expect.any(String),
      answerHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect((await test.owner.get('/audit-feed/verify')).body).toMatchObject({ ok: true, faults: [] });
  });
});

describe('two processes', () => {
  it(
    'an agent that waits at one hears what a person answers at the other',
    { timeout: 120_000 },
    async () => {
      const service = await startService(2, { PROCESS_ROLE: 'api' });
      try {
        const [one, other] = service.processes.map((process) => service.client(process));
        const { questionId, approvalId } = (await ask({}, one)).body;
        const waiting = one!.get(`/questions/${questionId}?wait=30`);
        expect((await respond(approvalId, { plan: 'pro' }, other)).status).toBe(200);
        expect((await waiting).body).toMatchObject({ status: 'answered', answer: { plan: 'pro' } });
      } finally {
        await service.close();
      }
    },
  );
});

it.each([
  ['asked by this name', `question_token_id = 'a' and question_external_id = 'b'`],
  ['asked by this token', `question_id is not null and question_token_id = 'a'`],
  ['asked by this agent', `question_agent = 'a'`],
])('what is %s is found by an index, under row-level security too', async (_name, condition) => {
  const reader = await test.database.owner.connect();
  try {
    await reader.query('begin');
    await reader.query('set local role consigliere_app; set local enable_seqscan = off');
    const scope = `select set_config('app.workspace_id', $1, true), set_config('app.team_ids', '*', true)`;
    await reader.query(scope, [test.workspaceId]);
    const { rows } = await reader.query<{ 'QUERY PLAN': string }>(
      `explain select from approvals where workspace_id = '${test.workspaceId}' and ${condition}`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join(' ');
    expect(plan).toMatch(
      /Index Cond: \(\(workspace_id = '\w+'::text\) AND \(question_(token_id|agent) = 'a'::text\)/,
    );
  } finally {
    await reader.query('rollback');
    reader.release();
  }
});
