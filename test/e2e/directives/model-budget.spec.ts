import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LoopbackModel } from '../../support/loopback-model.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from './desk.js';

const content = JSON.stringify({
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
});
const MEMO = { text: 'Write a memo on the delays.', capo: 'capo_ops' };

let model: LoopbackModel;

beforeAll(async () => {
  model = await LoopbackModel.start();
});
afterAll(() => model.stop());
beforeEach(() => {
  model.requests.length = 0;
  // One dollar each.
  model.reply = () => ({
    content,
    usage: { prompt_tokens: 0, completion_tokens: 1_000, total_tokens: 1_000 },
  });
});

const start = (environment: Record<string, string> = {}) =>
  startTestApp({
    MODEL_PROVIDER: 'openai-compatible',
    MODEL_BASE_URL: model.url,
    MODEL_NAME: 'test-model',
    MODEL_MAX_TOKENS: '1000',
    ...environment,
  });

const usageOf = (test: TestApp, workspaceId: string) =>
  test.rows<{ day: string; amount: number; tokens: number }>(
    'select day::text, amount::float8, tokens::float8 from model_usage where workspace_id = $1 order by day',
    [workspaceId],
  );

/** The state of an approval whose draft waits for more budget. */
const untilWaiting = (desk: Desk, approvalId: string) =>
  eventually(
    () => desk.approval(approvalId),
    ({ drafting }) => drafting?.lastError?.code === 'MODEL_BUDGET_EXCEEDED',
  );

describe('a budget in dollars', () => {
  let test: TestApp;
  let desk: Desk;
  let workspaceId: string;
  beforeAll(async () => {
    test = await start({ MODEL_PRICE_INPUT: '0', MODEL_PRICE_OUTPUT: '1000' });
  });
  afterAll(() => test.close());
  beforeEach(async () => {
    const workspace = await test.createWorkspace('pro');
    ({ workspaceId } = workspace);
    desk = new Desk(test, workspace.owner.token);
    test.clock.goOn();
  });

  const budget = async (modelBudget: object | null) => {
    const answer = await desk.client.put('/settings', { modelBudget });
    expect(answer.status, answer.text).toBe(200);
  };
  const signals = async () => {
    const rows = await test.rows<{ title: string }>(
      `select title from signals where workspace_id = $1 order by created_at`,
      [workspaceId],
    );
    return rows.map(({ title }) => title);
  };

  it('stops before the call that could exceed it, and goes on when it is raised', async () => {
    await budget({ amount: 2.5, currency: 'USD' });
    await desk.handInReady(MEMO);
    expect(await signals()).toEqual([]);
    await desk.handInReady(MEMO);
    expect(await signals()).toEqual(["Model calls have used 2 USD of today's 2.5 USD"]);
    const { directiveId, approvalId } = await desk.handIn(MEMO);
    const { drafting, status } = await untilWaiting(desk, approvalId);
    expect(status).toBe('pending');
    expect(drafting.lastError.message).toBe(
      'The budget for model calls is used up for today (2 USD of 2.5 USD); it goes on at midnight (UTC), or when an admin raises modelBudget in the settings.',
    );
    expect(drafting.attempts).toBe(0);
    // Not only at midnight: raising the budget may have passed it by.
    const wait = drafting.nextAttemptAt - Date.now();
    expect(wait).toBeLessThanOrEqual(600_000);
    expect(model.requests).toHaveLength(2);
    expect(await usageOf(test, workspaceId)).toMatchObject([{ amount: 2, tokens: 2_000 }]);
    expect(await signals()).toHaveLength(1);

    await budget({ amount: 3 });
    await desk.ready(approvalId);
    expect(await desk.directive(directiveId)).toMatchObject({ error: null, cost: { amount: 1 } });
  });

  it('goes on with the next day of the workspace', async () => {
    expect((await desk.client.put('/settings', { timezone: 'Asia/Tokyo' })).status).toBe(200);
    await budget({ amount: 1 });
    test.clock.stop(Date.parse('2027-03-01T14:59:00Z'));
    await desk.handInReady(MEMO);
    const { directiveId, approvalId } = await desk.handIn(MEMO);
    await untilWaiting(desk, approvalId);
    test.clock.advance(60_000);
    await test.rows('update work_items set due_at = now() where id = $1', [directiveId]);
    await desk.ready(approvalId);
    expect(await usageOf(test, workspaceId)).toMatchObject([
      { day: '2027-03-01', amount: 1 },
      { day: '2027-03-02', amount: 1 },
    ]);
  });

  it('is never exceeded by calls made at once', async () => {
    await budget({ amount: 3 });
    const handedIn = await Promise.all(Array.from({ length: 8 }, () => desk.handIn(MEMO)));
    await eventually(
      () => Promise.all(handedIn.map(({ approvalId }) => desk.approval(approvalId))),
      (approvals) => approvals.every(({ ready, drafting }) => ready || drafting?.lastError),
    );
    expect(model.requests).toHaveLength(3);
    expect(await usageOf(test, workspaceId)).toMatchObject([{ amount: 3 }]);
  });

  it('gives back what a refused call had reserved, and counts one that was cut as read', async () => {
    await budget({ amount: 1 });
    model.reply = () => ({ status: 429, headers: { 'retry-after': '60' }, body: '{}' });
    const { directiveId, approvalId } = await desk.handIn(MEMO);
    await eventually(
      () => desk.approval(approvalId),
      ({ drafting }) => drafting?.lastError?.code === 'RATE_LIMITED',
    );
    expect(await usageOf(test, workspaceId)).toMatchObject([{ amount: 0, tokens: 0 }]);

    model.reply = () => 'nothing';
    await test.rows('update work_items set due_at = now() where id = $1', [directiveId]);
    await eventually(
      async () => model.requests,
      ({ length }) => length === 2,
    );
    expect(await usageOf(test, workspaceId)).toMatchObject([{ amount: 1 }]);
    await desk.kill();
    const [used] = await eventually(
      () => usageOf(test, workspaceId),
      ([now]) => now!.amount === 0,
    );
    expect(used!.tokens).toBeGreaterThan(500);
  });

  it('has no call wait for the next day that only calls under way leave no room for, and warns of nothing', async () => {
    await budget({ amount: 2 });
    const answer = Promise.withResolvers<void>();
    model.reply = async () => {
      await answer.promise;
      return { content, usage: { prompt_tokens: 0, completion_tokens: 10, total_tokens: 10 } };
    };
    const handedIn = await Promise.all(Array.from({ length: 3 }, () => desk.handIn(MEMO)));
    const approvals = () => Promise.all(handedIn.map(({ approvalId }) => desk.approval(approvalId)));
    const [refused] = (
      await eventually(approvals, (all) => all.some(({ drafting }) => drafting?.lastError))
    ).filter(({ drafting }) => drafting?.lastError);
    expect(refused.drafting.lastError).toEqual({
      code: 'MODEL_BUDGET_EXCEEDED',
      message:
        "Model calls under way have set aside what is left of today's budget (0 USD used and 2 USD set aside, of 2 USD); it goes on when they have ended.",
    });
    expect(refused.drafting.nextAttemptAt - Date.now()).toBeLessThanOrEqual(15_000);
    expect(await signals()).toEqual([]);
    answer.resolve();
    await eventually(approvals, (all) => all.filter(({ ready }) => ready).length === 2);
    await test.rows('update work_items set due_at = now() where id = $1', [refused.directiveId]);
    await desk.ready(refused.approvalId);
    expect(await signals()).toEqual([]);
    const [used] = await test.rows(
      `select amount::float8, reserved_amount::float8, reserved_tokens::float8 from model_usage where workspace_id = $1`,
      [workspaceId],
    );
    expect(used).toEqual({ amount: 0.03, reserved_amount: 0, reserved_tokens: 0 });
    const started = await test.rows(
      `select 1 from receipts where workspace_id = $1 and action = 'directive.started' and directive_id = $2`,
      [workspaceId, refused.directiveId],
    );
    expect(started).toHaveLength(1);
  });

  it('counts as used what a process had set aside that ended during a call', async () => {
    await test.rows(
      `insert into model_usage (workspace_id, day, amount, reserved_amount, reserved_until)
       values ($1, $2, 9.5, 9.5, $3::timestamptz - interval '1 second')`,
      [workspaceId, new Date(test.clock.now()).toISOString().slice(0, 10), new Date(test.clock.now())],
    );
    const { approvalId } = await desk.handIn(MEMO);
    const { drafting } = await untilWaiting(desk, approvalId);
    expect(drafting.lastError.message).toContain('is used up for today (9.5 USD of 10 USD)');
  });

  it('loses no answer that was paid for when what it used cannot be written down', async () => {
    await test.rows('alter function app.settle_model_usage rename to settle_model_usage_away');
    try {
      await desk.handInReady(MEMO);
    } finally {
      await test.rows('alter function app.settle_model_usage_away rename to settle_model_usage');
    }
    expect(model.requests).toHaveLength(1);
    // What was set aside stays counted.
    expect(await usageOf(test, workspaceId)).toMatchObject([{ amount: 1 }]);
  });

  it.each([0.5, 0])(
    'of %d, which a single call can exceed, has the directive wait and says so',
    async (amount) => {
      await budget({ amount });
      const { approvalId } = await desk.handIn(MEMO);
      const { drafting } = await untilWaiting(desk, approvalId);
      expect(drafting.lastError.message).toBe(
        `A single model call for this can cost 1 USD, more than the budget of a whole day (${amount} USD); it waits until an admin raises modelBudget in the settings.`,
      );
      expect(drafting.nextAttemptAt - Date.now()).toBeLessThanOrEqual(600_000);
      expect(await signals()).toEqual([`A model call can cost 1 USD, and today's budget is ${amount} USD`]);
      expect(model.requests).toHaveLength(0);
      await budget({ amount: 1 });
      await desk.ready(approvalId);
    },
  );

  it('is that of the tier unless it is set', async () => {
    await test.rows('insert into model_usage (workspace_id, day, amount) values ($1, $2, 9.5)', [
      workspaceId,
      new Date(test.clock.now()).toISOString().slice(0, 10),
    ]);
    const { approvalId } = await desk.handIn(MEMO);
    const { drafting } = await untilWaiting(desk, approvalId);
    expect(drafting.lastError.message).toContain('(9.5 USD of 10 USD)');
    expect(await signals()).toEqual(["Model calls have used 9.5 USD of today's 10 USD"]);
  });
});

describe('a budget in tokens', () => {
  it('is counted where the model has no price, by estimate where the server counts nothing', async () => {
    const test = await start();
    const { owner, workspaceId } = await test.createWorkspace('free');
    const desk = new Desk(test, owner.token);
    model.reply = () => ({ content, usage: null });
    const { directiveId } = await desk.handInReady(MEMO);
    const [used] = await usageOf(test, workspaceId);
    const { cost } = await desk.directive(directiveId);
    expect(cost.tokensIn + cost.tokensOut).toBe(used!.tokens);
    expect(used!.amount).toBe(0);
    expect(used!.tokens).toBeGreaterThan(500);
    expect(used!.tokens).toBeLessThan(10_000);
    expect((await owner.put('/settings', { modelBudget: { tokens: used!.tokens + 100 } })).status).toBe(200);
    const { approvalId } = await desk.handIn(MEMO);
    const { drafting } = await untilWaiting(desk, approvalId);
    expect(drafting.lastError.message).toContain('tokens');
    await test.close();
  });
});

describe('PUT /settings', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  it('answers the budget, keeps it in a receipt, and null gives back what the tier has', async () => {
    const { owner, workspaceId } = await test.createWorkspace();
    expect((await owner.get('/settings')).body.modelBudget).toBeNull();
    const modelBudget = { amount: 25, currency: 'USD', tokens: null };
    expect((await owner.put('/settings', { modelBudget: { amount: 25 } })).body).toMatchObject({
      modelBudget,
    });
    expect((await owner.get('/settings')).body).toMatchObject({ modelBudget });
    const [receipt] = await test.rows<{ body: string }>(
      `select body::text from receipts where workspace_id = $1 order by seq desc limit 1`,
      [workspaceId],
    );
    expect(receipt!.body).toContain('modelBudget');
    expect((await owner.put('/settings', { modelBudget: null })).body.modelBudget).toBeNull();
  });

  it.each([
    [{ amount: -1 }],
    [{ amount: 1, currency: 'EUR' }],
    [{ tokens: 1.5 }],
    [{ amount: 1e-320 }],
    [{ amount: '5' }],
    [{}],
    [[]],
    ['5'],
    [{ amount: 1, euros: 3 }],
  ])('refuses %j and changes nothing', async (modelBudget) => {
    const { owner } = await test.createWorkspace();
    const answer = await owner.put('/settings', { modelBudget });
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body.error.details)).toContain('modelBudget');
    expect((await owner.get('/settings')).body.modelBudget).toBeNull();
  });
});
