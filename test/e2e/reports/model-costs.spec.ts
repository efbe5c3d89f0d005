import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../../src/platform/auth/caller.js';
import { Db } from '../../../src/platform/database/db.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Receipts } from '../../../src/platform/receipts/receipts.js';
import { MetricsServer } from '../../../src/platform/observability/metrics.controller.js';
import { countReport } from '../../../src/features/verifier/report-proof.js';
import { receiptsIn } from '../../../src/features/verifier/verifier.js';
import { LoopbackModel, type ModelReply, type ModelRequest } from '../../support/loopback-model.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { ChatDesk } from '../chat/chat-desk.js';
import { Desk } from '../directives/desk.js';
import { ReportDesk } from './report-desk.js';

const MEMO = { text: 'Write a memo on the delays.', capo: 'capo_ops' };
const QUESTION = 'Is there anything about the delivery that I should worry about?';
const SECTION = {
  title: 'Pipeline',
  directive: 'Sum up the pipeline.',
  capo: 'capo_revenue',
  includeInReport: true,
};

const drafts: ModelReply = {
  content: JSON.stringify({
    summary: 'A memo is ready.',
    packets: [
      {
        title: 'Memo',
        type: 'document.file',
        target: 'Memo',
        params: { title: 'Memo on delays', body: 'Two deliveries are late.' },
        rationale: 'The directive asks for it.',
        multipliers: [],
      },
    ],
  }),
};
const routes: ModelReply = {
  content: JSON.stringify({ capos: ['capo_ops'], reason: 'A delivery.', candidates: [] }),
};
const chats: ModelReply = {
  content: JSON.stringify({ lookUps: [], reply: 'All is well.', directives: [], refused: false }),
};
const garbles: ModelReply = { content: 'Well, let me think about it.' };

type Reply = ModelReply | (() => ModelReply | Promise<ModelReply>);

let model: LoopbackModel;
let test: TestApp;
let desk: ReportDesk;
let work: Desk;
let replies: Record<'routing' | 'draft' | 'chat', Reply>;

beforeAll(async () => {
  model = await LoopbackModel.start();
  test = await startTestApp({
    MODEL_PROVIDER: 'openai-compatible',
    MODEL_BASE_URL: model.url,
    MODEL_NAME: 'test-model',
    MODEL_TIMEOUT_SECONDS: '4',
    MODEL_MAX_TOKENS: '1000',
    MODEL_PRICE_INPUT: '0.15',
    MODEL_PRICE_OUTPUT: '3',
    REPORT_SECTION_SECONDS: '2',
    METRICS_PORT: '0',
  });
  const noon = new Date(test.clock.now());
  noon.setUTCHours(12, 0, 0, 0);
  test.clock.advance(noon.getTime() - test.clock.now());
});
afterAll(async () => {
  await test.close();
  await model.stop();
});

beforeEach(async () => {
  model.requests.length = 0;
  replies = { routing: routes, draft: drafts, chat: chats };
  model.reply = (request) => {
    const reply = replies[nameOf(request)];
    return typeof reply === 'function' ? reply() : reply;
  };
  desk = await ReportDesk.open(test);
  work = new Desk(test, desk.workspace.owner.token);
});

function nameOf({ body }: ModelRequest): keyof typeof replies {
  return body.response_format!.json_schema!.name as keyof typeof replies;
}

interface Spent {
  amount: number;
  tokens: number;
}

const exact = (amount: number) => Number(amount.toFixed(6));
const sum = (costs: readonly { amount: number; tokensIn: number; tokensOut: number }[]): Spent => ({
  amount: exact(costs.reduce((all, { amount }) => all + amount, 0)),
  tokens: costs.reduce((all, { tokensIn, tokensOut }) => all + tokensIn + tokensOut, 0),
});

/** What the workspace has spent, by each of those who count it. */
async function counts() {
  const { workspaceId } = desk;
  const [budget] = await test.rows<Spent & { reserved: number }>(
    `select amount::float8, tokens::int, reserved_tokens::int as reserved from model_usage where workspace_id = $1`,
    [workspaceId],
  );
  const receipts = await test.rows<{ cost: any; model: string | null }>(
    `select d->'cost' as cost, coalesce(d->'engine'->>'model', d->>'model') as model
     from (select body::jsonb->'details' as d from receipts where workspace_id = $1) r
     where (d->'cost'->>'tokensIn')::int + (d->'cost'->>'tokensOut')::int > 0`,
    [workspaceId],
  );
  const { body: metrics } = await desk.owner.get('/metrics');
  const { body: kpi } = await desk.owner.get('/kpi');
  const { costLedger } = (await desk.daily(desk.day(0))).body.sections;
  return {
    reserved: budget?.reserved ?? 0,
    budget: { amount: budget?.amount ?? 0, tokens: budget?.tokens ?? 0 },
    receipts: sum(receipts.map(({ cost }) => cost)),
    ledger: sum(costLedger.byModel),
    metrics: metrics.cost.h24 as number,
    kpi: kpi.tiles.costLast7Days.value as number,
    models: [...new Set(receipts.map((one) => one.model))],
    ledgerModels: costLedger.byModel.map((one: { model: string | null }) => one.model),
  };
}

/** Everybody counts the same, once the last call has been settled. */
async function expectCountedEverywhere(calls: number): Promise<Spent> {
  const isSame = ({ reserved, budget, receipts, ledger, metrics, kpi }: Awaited<ReturnType<typeof counts>>) =>
    model.requests.length >= calls &&
    reserved === 0 &&
    budget.tokens > 0 &&
    [receipts, ledger].every(({ amount, tokens }) => amount === budget.amount && tokens === budget.tokens) &&
    metrics === budget.amount &&
    kpi === budget.amount;
  const found = await eventually(counts, isSame, 8).catch(() => counts());
  const { budget } = found;
  expect(found).toEqual({
    reserved: 0,
    budget,
    receipts: budget,
    ledger: budget,
    metrics: budget.amount,
    kpi: budget.amount,
    models: ['test-model'],
    ledgerModels: ['test-model'],
  });
  expect(budget.tokens).toBeGreaterThan(0);
  expect(model.requests.length).toBeGreaterThanOrEqual(calls);
  const { text } = await desk.owner.get('/audit-feed?format=jsonl');
  const exported = await receiptsIn(Readable.from([Buffer.from(text)]));
  const report = (await desk.daily(desk.day(0))).body;
  expect(countReport(exported, report, desk.workspaceId).differences).toEqual([]);
  return budget;
}

/** A receipt such as was written while the counts of a provider were believed. */
async function append(cost: object) {
  const { workspaceId } = desk;
  await test.app.get(Db).transaction({ workspaceId, teamIds: 'all' }, async () => {
    test.app.get(Receipts).append({
      actor: SYSTEM,
      capo: 'capo_ops',
      action: 'directive.drafted',
      entity: { type: 'directive', id: newId('dir') },
      summary: 'A draft.',
      details: { engine: { name: 'openai', model: 'test-model' }, cost },
    });
  });
}

it('the report of a day is made, and counted again, whatever its receipts hold', async () => {
  for (const tokensIn of [1e300, -1_000_000_000, 1.5, 1e15]) {
    for (const amount of [1e294, -999.999994, 1e21, 1.7e308, 1.7e308, 0.000001])
      await append({ amount, currency: 'USD', tokensIn, tokensOut: 1 });
  }
  const day = desk.day(0);
  const { status, body, text } = await desk.daily(day);
  expect(status, text).toBe(200);
  expect(body.sections.costLedger.byModel[0]).toMatchObject({ amount: Number.MAX_VALUE, calls: 24 });
  const plain = await desk.owner.get(`/reports/daily?date=${day}`, { Accept: 'text/plain' });
  expect(plain.status).toBe(200);
  for (const path of ['/kpi', '/metrics']) expect((await desk.owner.get(path)).status).toBe(200);
  const { text: feed } = await desk.owner.get('/audit-feed?format=jsonl');
  const exported = await receiptsIn(Readable.from([Buffer.from(feed)]));
  expect(countReport(exported, body, desk.workspaceId).differences).toEqual([]);
  await desk.look(desk.day(2));
  expect(await desk.scheduled(1)).toHaveLength(1);
});

/** The model has been asked, and answers once it is told to. */
function askedAndWaiting(name: keyof typeof replies, answer: ModelReply) {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<ModelReply>();
  replies[name] = () => {
    asked.resolve();
    return released.promise;
  };
  return { asked: asked.promise, answer: () => released.resolve(answer) };
}

describe('what a model was paid counts the same in the budget, receipts, metrics, tiles and the ledger of the report:', () => {
  it('routing and a draft', async () => {
    await work.handInReady({ text: MEMO.text });
    expect(await expectCountedEverywhere(2)).toEqual({ amount: 0.00099, tokens: 2_040 });
  });

  it('routing of a directive that is cancelled before a capo begins', async () => {
    await work.client.post('/agents/capo_ops/pause');
    const { directiveId } = await work.handIn({ text: MEMO.text });
    await eventually(
      () => work.directive(directiveId),
      ({ cost }) => cost.tokensIn > 0,
    );
    expect((await work.client.post(`/directives/${directiveId}/cancel`)).status).toBe(200);
    await expectCountedEverywhere(1);
  });

  it('routing that nobody waits for any more', async () => {
    const routing = askedAndWaiting('routing', routes);
    const { directiveId } = await work.handIn({ text: MEMO.text });
    await routing.asked;
    expect((await work.client.post(`/directives/${directiveId}/cancel`)).status).toBe(200);
    routing.answer();
    await expectCountedEverywhere(1);
    expect((await work.directive(directiveId)).cost.tokensIn).toBeGreaterThan(0);
  });

  it('a draft that is refused twice', async () => {
    replies.draft = garbles;
    const { directiveId } = await work.handIn(MEMO);
    await work.until(directiveId, 'failed');
    await expectCountedEverywhere(2);
  });

  it('a draft that did not come in time, and the one after it', async () => {
    replies.draft = 'nothing';
    const { directiveId, approvalId } = await work.handIn(MEMO);
    await eventually(
      () => work.approval(approvalId),
      ({ drafting }) => drafting?.lastError?.code === 'TIMEOUT',
    );
    replies.draft = drafts;
    await test.rows('update work_items set due_at = now() where id = $1', [directiveId]);
    await work.ready(approvalId);
    await expectCountedEverywhere(2);
  });

  it('a draft that the kill switch has stopped', async () => {
    const draft = askedAndWaiting('draft', drafts);
    const { directiveId } = await work.handIn({ ...MEMO, requiresApproval: undefined });
    await draft.asked;
    expect((await work.kill()).status).toBe(200);
    await expectCountedEverywhere(1);
    draft.answer();
    expect((await work.directive(directiveId)).cost.tokensIn).toBeGreaterThan(0);
  });

  it('a draft that nobody waits for any more', async () => {
    const draft = askedAndWaiting('draft', drafts);
    const { directiveId } = await work.handIn(MEMO);
    await draft.asked;
    expect((await work.client.post(`/directives/${directiveId}/cancel`)).status).toBe(200);
    draft.answer();
    await expectCountedEverywhere(1);
    expect(await work.directive(directiveId)).toMatchObject({ status: 'cancelled', output: null });
  });

  it('answers in the chat, and what could not be answered', async () => {
    const chat = new ChatDesk(test, desk.workspace.owner);
    await chat.say(QUESTION);
    await expectCountedEverywhere(1);
    replies.chat = garbles;
    await chat.say(QUESTION);
    await expectCountedEverywhere(3);
  });

  it('an answer in the chat that its member may not have any more', async () => {
    const operator = await test.createMember(desk.workspaceId, 'operator');
    const chat = new ChatDesk(test, operator);
    const question = askedAndWaiting('chat', chats);
    const answer = chat.send(QUESTION);
    await question.asked;
    await test.rows(`update members set role = 'viewer' where workspace_id = $1 and role = 'operator'`, [
      desk.workspaceId,
    ]);
    question.answer();
    expect((await answer).status).toBe(403);
    await expectCountedEverywhere(1);
  });

  it('sections of the report that were written, were refused, and came too late', async () => {
    await desk.owner.post('/reports/custom-sections', SECTION);
    await desk.look(desk.day(2));
    await expectCountedEverywhere(1);
    replies.draft = garbles;
    await desk.look(desk.day(3));
    await expectCountedEverywhere(3);
    replies.draft = 'nothing';
    await desk.look(desk.day(4));
    await eventually(
      async () => (await desk.daily(desk.day(3))).body.customSections[0],
      (section) => section?.status === 'late',
    );
    await expectCountedEverywhere(4);
  });

  it.each<[string, object]>([
    ['more than there are numbers', { prompt_tokens: 1e300, completion_tokens: 1 }],
    ['more than a call can have', { prompt_tokens: 1e15, completion_tokens: 1e15 }],
    ['negative', { prompt_tokens: -1_000_000_000, completion_tokens: 120 }],
    ['a fraction', { prompt_tokens: 1.5, completion_tokens: 1.5 }],
    ['a text', { prompt_tokens: '900', completion_tokens: 'NaN' }],
  ])('a draft whose tokens are %s, and it is asked for once', async (_what, usage) => {
    replies.draft = { ...(drafts as { content: string }), usage };
    await work.handInReady(MEMO);
    const { amount, tokens } = await expectCountedEverywhere(1);
    expect(model.requests).toHaveLength(1);
    expect(amount).toBeGreaterThan(0);
    expect(amount).toBeLessThan(0.01);
    expect(tokens).toBeLessThan(100_000);
  });

  it('in a workspace of another currency, and is told in the currency that it was paid in', async () => {
    expect((await desk.owner.put('/settings', { currency: 'EUR' })).status).toBe(200);
    await work.handInReady(MEMO);
    await new ChatDesk(test, desk.workspace.owner).say(QUESTION);
    const { body } = await desk.owner.get('/metrics');
    expect(body.cost).toMatchObject({ currency: 'USD', h24: 0.00099, byCurrency: {} });
    expect(body.revenue.currency).toBe('EUR');
    const { costLedger, agentActivity } = (await desk.daily(desk.day(0))).body.sections;
    expect(costLedger).toMatchObject({ total: 0.00099, currency: 'USD', byCurrency: {} });
    const ofCapos = Object.values<{ cost: number }>(agentActivity.capos).map(({ cost }) => cost);
    expect(Math.max(...ofCapos)).toBeGreaterThan(0);
    const { costLast7Days } = (await desk.owner.get('/kpi')).body.tiles;
    expect(costLast7Days).toMatchObject({ value: 0.00099, unit: 'USD', byCurrency: {} });
    expect(costLast7Days.sparkline.at(-1)).toBe(0.00099);
  });

  it('all together for Prometheus, as this process has used it', async () => {
    const read = async () => {
      const [used] = await test.rows<Spent>(
        `select sum(amount - reserved_amount)::float8 as amount, sum(tokens - reserved_tokens)::int as tokens from model_usage`,
      );
      const response = await fetch(`http://127.0.0.1:${test.app.get(MetricsServer).port}/metrics`);
      const lines = (await response.text()).split('\n');
      const sample = (name: string) =>
        Number(lines.find((line) => line.startsWith(`${name} `))!.split(' ')[1]);
      return {
        used: { amount: exact(used!.amount), tokens: used!.tokens },
        counted: {
          amount: exact(sample('consigliere_model_cost_usd_total')),
          tokens: sample('consigliere_model_tokens_total'),
        },
      };
    };
    const isSame = ({ used, counted }: Awaited<ReturnType<typeof read>>) =>
      used.amount === counted.amount && used.tokens === counted.tokens;
    const { used, counted } = await eventually(read, isSame, 6).catch(read);
    expect(counted).toEqual(used);
  });
});
