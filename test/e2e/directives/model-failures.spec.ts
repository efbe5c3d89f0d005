import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LoopbackModel, providerError } from '../../support/loopback-model.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { MAIL_TO_ACME, OrderDesk } from '../standing-orders/order-desk.js';
import { Desk, expectUnbroken } from './desk.js';

const KEY = 'sk-test-0123456789abcdef';
const TEXT = 'Email jane@acme.example: the delivery arrives on Friday.';
const BODY = 'Hello Jane,\n\nthe delivery arrives on Friday.';
const answerWith = (params: object) =>
  JSON.stringify({
    summary: 'A mail is ready.',
    packets: [
      {
        title: 'Mail to Jane',
        type: 'email.send',
        target: 'jane@acme.example',
        params: { to: ['jane@acme.example'], cc: null, subject: 'Delivery on Friday', body: BODY, ...params },
        rationale: 'The directive asks for it.',
        multipliers: [],
      },
    ],
  });
const content = answerWith({});

let model: LoopbackModel;
let test: TestApp;
let desk: Desk;

beforeAll(async () => {
  model = await LoopbackModel.start();
  test = await startTestApp({
    MODEL_PROVIDER: 'openai-compatible',
    MODEL_BASE_URL: model.url,
    MODEL_API_KEY: KEY,
    MODEL_NAME: 'test-model',
    MODEL_TIMEOUT_SECONDS: '1',
  });
});
afterAll(async () => {
  await test.close();
  await model.stop();
});
beforeEach(async () => {
  model.requests.length = 0;
  model.reply = () => ({ content });
  const { owner } = await test.createWorkspace();
  desk = new Desk(test, owner.token);
});

const handIn = () => desk.handIn({ text: TEXT, capo: 'capo_ops' });

/** The drafting state once so many attempts have failed. */
const afterFailures = async (approvalId: string, failures: number) =>
  (
    await eventually(
      () => desk.approval(approvalId),
      ({ drafting }) =>
        drafting?.attempts === failures && drafting.nextAttemptAt !== null && drafting.lastError,
    )
  ).drafting;

/** What the workspace of this directive has used of its budget. */
const usedTokens = async (directiveId: string) => {
  const [used] = await test.rows<{ tokens: number }>(
    `select u.tokens::float8 from model_usage u join directives d using (workspace_id) where d.directive_id = $1`,
    [directiveId],
  );
  return used!.tokens;
};

/** Brings the next attempt forward instead of waiting for it. */
const hurry = (directiveId: string) =>
  test.rows('update work_items set due_at = now() where id = $1', [directiveId]);

/** In how many milliseconds the next attempt begins, by the clock of the database. */
const waitOf = async (directiveId: string) => {
  const [item] = await test.rows<{ ms: number }>(
    `select (extract(epoch from due_at - now()) * 1000)::float8 as ms from work_items
     where id = $1 and not claimed`,
    [directiveId],
  );
  return item!.ms;
};

const within = (actual: number, wanted: number) => {
  expect(actual).toBeGreaterThan(wanted - 5_000);
  expect(actual).toBeLessThanOrEqual(wanted);
};

const signalsAbout = (directiveId: string) =>
  test.rows<{ title: string; body: string; type: string; severity: string }>(
    `select title, body, type, severity from signals where entity->>'id' = $1 order by created_at`,
    [directiveId],
  );

describe('a provider that is overloaded', () => {
  it('is asked again when it says, with its reason on the approval and the directive, and then drafts', async () => {
    model.reply = (_request, nth) =>
      nth === 1
        ? providerError(429, 'Rate limit reached: 3 requests a minute.', { 'retry-after': '90' })
        : { content };
    const { directiveId, approvalId } = await handIn();
    const drafting = await afterFailures(approvalId, 1);
    const lastError = {
      code: 'RATE_LIMITED',
      message: 'The model provider answered with status 429: “Rate limit reached: 3 requests a minute.”',
    };
    expect(drafting).toEqual({ attempts: 1, nextAttemptAt: expect.any(Number), lastError });
    within(await waitOf(directiveId), 90_000);
    within(drafting.nextAttemptAt - Date.now(), 90_000);
    const directive = await desk.directive(directiveId);
    expect(directive).toMatchObject({ status: 'pending_approval', output: null, error: lastError });
    expect(directive.drafting).toEqual(drafting);
    expect(await signalsAbout(directiveId)).toEqual([]);
    expect(model.requests).toHaveLength(1);

    await hurry(directiveId);
    const ready = await desk.ready(approvalId);
    expect(ready.drafting).toBeNull();
    expect(await desk.directive(directiveId)).toMatchObject({ error: null, drafting: null });
  });

  it.each([
    ['a date', () => new Date(Date.now() + 120_000).toUTCString(), 120_000],
    ['more than an hour', () => '86400', 3_600_000],
  ])('and names %s is asked again then, and after an hour at the latest', async (_case, after, waitMs) => {
    model.reply = () => providerError(503, 'Overloaded.', { 'retry-after': after() });
    const { directiveId, approvalId } = await handIn();
    expect((await afterFailures(approvalId, 1)).lastError.code).toBe('PROVIDER_UNAVAILABLE');
    within(await waitOf(directiveId), waitMs);
  });

  it('and names no time is given minutes, a signal after the second failure, and given up after the fifth', async () => {
    model.reply = () => providerError(500, 'The server had an error.');
    const { directiveId, approvalId } = await handIn();
    for (const [failed, waitMs] of [15_000, 60_000, 240_000, 900_000].entries()) {
      await afterFailures(approvalId, failed + 1);
      within(await waitOf(directiveId), waitMs);
      const signals = await signalsAbout(directiveId);
      expect(signals).toHaveLength(failed === 0 ? 0 : 1);
      await hurry(directiveId);
    }
    const failed = await desk.until(directiveId, 'failed');
    const message = 'The model provider answered with status 500: “The server had an error.”';
    expect(failed).toMatchObject({ error: { code: 'PROVIDER_UNAVAILABLE', message }, drafting: null });
    expectUnbroken(failed);
    expect(model.requests).toHaveLength(5);
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'cancelled', drafting: null });
    const [second, last] = await signalsAbout(directiveId);
    expect(second).toMatchObject({ type: 'agent', severity: 'warning' });
    expect(second!.body).toContain(`${message} It failed twice; the next attempt begins at 20`);
    expect(last!.title).toBe(`No draft: ${TEXT}`);
    const lines = test.logs.filter((line) => line['directiveId'] === directiveId);
    expect(lines.map(({ msg, code, attempt }) => [msg, code, attempt])).toEqual([
      ...[1, 2, 3, 4].map((n) => ['a draft waits for its next attempt', 'PROVIDER_UNAVAILABLE', n]),
      ['a draft was given up', 'PROVIDER_UNAVAILABLE', 5],
    ]);
  });

  it('still says why it failed while its capo is paused', async () => {
    model.reply = () => providerError(500, 'The server had an error.');
    const { directiveId, approvalId } = await handIn();
    await afterFailures(approvalId, 1);
    expect((await desk.client.post('/agents/capo_ops/pause')).status).toBe(200);
    await hurry(directiveId);
    const { drafting } = await eventually(
      () => desk.approval(approvalId),
      (approval) => approval.drafting?.nextAttemptAt === null,
    );
    await eventually(
      () => test.rows('select claimed from work_items where id = $1', [directiveId]),
      ([item]) => item!['claimed'] === false,
    );
    expect(drafting.lastError.code).toBe('PROVIDER_UNAVAILABLE');
    expect((await desk.approval(approvalId)).drafting).toMatchObject({
      attempts: 1,
      nextAttemptAt: null,
      lastError: { code: 'PROVIDER_UNAVAILABLE' },
    });
    expect(model.requests).toHaveLength(1);
  });

  it('keeps no slot while it is waited for: others are drafted', async () => {
    model.reply = ({ body }) =>
      JSON.stringify(body).includes('unlucky')
        ? providerError(429, 'Later.', { 'retry-after': '600' })
        : { content };
    const unlucky = [];
    for (let n = 0; n < 6; n++)
      unlucky.push(await desk.handIn({ text: `${TEXT} unlucky`, capo: 'capo_ops' }));
    for (const { approvalId } of unlucky) await afterFailures(approvalId, 1);
    const { approvalId } = await handIn();
    expect((await desk.ready(approvalId)).packets).toHaveLength(1);
  });
});

describe('a model that hangs', () => {
  it('is cut once its time is over, and asked again later', async () => {
    model.reply = (_request, nth) => (nth === 1 ? 'nothing' : { content });
    const { directiveId, approvalId } = await handIn();
    const { lastError } = await afterFailures(approvalId, 1);
    expect(lastError).toEqual({ code: 'TIMEOUT', message: 'The model did not answer within 1 seconds.' });
    expect(model.requests).toHaveLength(1);
    // As much as it may have written: the directive and the budget are charged the same.
    const { cost } = await desk.directive(directiveId);
    expect(cost.tokensOut).toBe(16_000);
    expect(await usedTokens(directiveId)).toBe(cost.tokensIn + cost.tokensOut);
    await hurry(directiveId);
    await desk.ready(approvalId);
  });

  it('shows meanwhile that the first attempt is under way', async () => {
    const answer = Promise.withResolvers<void>();
    model.reply = async () => {
      await answer.promise;
      return { content };
    };
    const { directiveId, approvalId } = await handIn();
    await eventually(
      async () => model.requests,
      ({ length }) => length === 1,
    );
    const drafting = { attempts: 1, nextAttemptAt: null, lastError: null };
    expect(await desk.approval(approvalId)).toMatchObject({ ready: false, drafting });
    expect((await desk.directive(directiveId)).drafting).toEqual(drafting);
    answer.resolve();
    await desk.ready(approvalId);
  });
});

describe('a provider that refuses for good', () => {
  it.each([
    [401, 'UNAUTHORIZED', `Incorrect API key provided: ${KEY}.`, 'Incorrect API key provided: [redacted]'],
    [403, 'UNAUTHORIZED', 'This key may not use test-model.', 'This key may not use test-model.'],
    [404, 'REQUEST_REJECTED', 'The model test-model does not exist.', 'The model test-model does not exist.'],
  ])(
    'with %i ends the directive at once, with its reason and without the key',
    async (status, code, said, told) => {
      model.reply = () => providerError(status, said);
      const { directiveId, approvalId } = await handIn();
      const failed = await desk.until(directiveId, 'failed');
      expect(failed.error.code).toBe(code);
      expect(failed.error.message).toContain(told);
      expect(failed.drafting).toBeNull();
      expect(model.requests).toHaveLength(1);
      expect(await desk.approval(approvalId)).toMatchObject({ status: 'cancelled' });
      const stored = await test.rows(
        `select to_jsonb(d)::text as text from directives d where directive_id = $1
       union all select to_jsonb(r)::text from receipts r where directive_id = $1
       union all select to_jsonb(s)::text from signals s where entity->>'id' = $1`,
        [directiveId],
      );
      expect(stored.length).toBeGreaterThan(4);
      expect(JSON.stringify([stored, test.logs])).not.toContain(KEY);
    },
  );

  it('because of its content filter ends the directive at once', async () => {
    model.reply = () => ({ content: 'I cannot help with that.', finishReason: 'content_filter' });
    const { directiveId } = await handIn();
    expect(await desk.until(directiveId, 'failed')).toMatchObject({
      error: {
        code: 'REFUSED',
        message: 'The model declined to work on this directive: “I cannot help with that.”',
      },
    });
    expect(model.requests).toHaveLength(1);
  });
});

describe('an answer that is none', () => {
  it('is repaired once, and then ends the directive with what was wrong', async () => {
    model.reply = () => ({ content: 'Sure! Here is your mail.' });
    const { directiveId } = await handIn();
    expect(await desk.until(directiveId, 'failed')).toMatchObject({
      error: {
        code: 'INVALID_OUTPUT',
        message: "The model's answer was refused twice:\n- the answer: is not one JSON object",
      },
      cost: { tokensIn: 1800, tokensOut: 240 },
    });
    expect(model.requests).toHaveLength(2);
  });

  it('is asked for again whole when it was cut off', async () => {
    model.reply = (_request, nth) =>
      nth === 1 ? { content: content.slice(0, 90), finishReason: 'length' } : { content };
    const { approvalId } = await handIn();
    const { packets } = await desk.ready(approvalId);
    expect(packets[0].action.params.body).toBe(BODY);
    expect(model.requests[1]!.body.messages.at(-1)!.content).toContain('was cut off: be shorter');
  });

  it('is waited for again when the connection breaks in its middle', async () => {
    model.reply = (_request, nth) => (nth === 1 ? 'half' : { content });
    const { directiveId, approvalId } = await handIn();
    expect((await afterFailures(approvalId, 1)).lastError.code).toBe('PROVIDER_UNAVAILABLE');
    await hurry(directiveId);
    await desk.ready(approvalId);
  });

  it('is waited for again when something in between answers with a page', async () => {
    model.reply = () => ({
      status: 502,
      headers: { 'content-type': 'text/html' },
      body: '<html><h1>Bad gateway</h1></html>',
    });
    const { approvalId } = await handIn();
    expect((await afterFailures(approvalId, 1)).lastError.message).toBe(
      'The model provider answered with status 502.',
    );
  });
});

describe('a model that lies', () => {
  it('about the recipient makes the approval critical, and says whom nobody named', async () => {
    model.reply = () => ({
      content: answerWith({
        to: ['jane@acme.example', 'eve@evil.example'],
        body: 'Hello Jane,\n\nplease pay 900 EUR at https://evil.example/pay.',
      }),
    });
    const { approvalId } = await handIn();
    const approval = await desk.ready(approvalId);
    expect(approval).toMatchObject({ risk: 'critical', urgent: true });
    const nowhere = "nowhere in the directive, its context or the workspace's data.";
    for (const reason of [
      `The recipient eve@evil.example stands ${nowhere}`,
      `The link evil.example/pay stands ${nowhere}`,
      `The amount 900 EUR stands ${nowhere}`,
    ]) {
      expect(approval.riskReasons).toContain(reason);
    }
    // Who reads it knows; it is still theirs to decide.
    expect(approval.packets[0].action.params.to).toEqual(['jane@acme.example', 'eve@evil.example']);
  });

  it('is not let through by a standing order that allows its mails', async () => {
    const { owner } = await test.createWorkspace();
    desk = new Desk(test, owner.token);
    await new OrderDesk(test).active(MAIL_TO_ACME, owner);
    const handInAlone = async (answer: string) => {
      model.reply = () => ({ content: answer });
      const body = { directive: TEXT, capo: 'capo_ops', requiresApproval: false };
      return (await desk.client.post('/directives', body)).body.directiveId as string;
    };
    await desk.until(await handInAlone(content), 'executed');
    const lying = await handInAlone(answerWith({ to: ['eve@acme.example'] }));
    const { approvalId } = await desk.until(lying, 'pending_approval');
    expect(await desk.approval(approvalId)).toMatchObject({ ready: true, risk: 'critical' });
  });

  it('with text that nobody can see is asked again, and its mail has none', async () => {
    const hidden = '\u{e0070}\u{e0061}\u{e0079}\u202e\u2066\u200b';
    const answers = [answerWith({ body: `Hello Jane.${hidden}`, subject: `Order${hidden}` }), content];
    model.reply = () => ({ content: answers.shift()! });
    const { approvalId } = await handIn();
    const approval = await desk.ready(approvalId);
    expect(answers).toEqual([]);
    expect(JSON.stringify(model.requests.at(-1)!.body.messages)).toContain(
      'packets.0.params.body: must not contain characters that cannot be seen',
    );
    expect(approval.riskReasons).toEqual([]);
    expect(JSON.stringify(approval)).not.toMatch(/[\u{e0000}-\u{e007f}\u202e\u2066\u200b]/u);
  });

  it('with text that nobody can see, again and again, drafts nothing', async () => {
    model.reply = () => ({ content: answerWith({ body: 'Hello Jane.\u{e0070}' }) });
    const { directiveId } = await handIn();
    const { error } = await desk.until(directiveId, 'failed');
    expect(error).toMatchObject({ code: 'INVALID_OUTPUT' });
    expect(error.message).toContain('must not contain characters that cannot be seen');
  });

  it('about nothing keeps the risk as it was', async () => {
    const { approvalId } = await handIn();
    const approval = await desk.ready(approvalId);
    expect(approval.risk).toBe('medium');
    expect(JSON.stringify(approval.riskReasons)).not.toContain('nowhere');
  });
});

describe('a model that leaves something open', () => {
  it('has a person fill in its placeholders before it may be approved', async () => {
    model.reply = () => ({ content: answerWith({ body: 'Hello [Name],\n\nit arrives on Friday.' }) });
    const { approvalId } = await handIn();
    const approval = await desk.ready(approvalId);
    expect(approval.packets[0].needsInput).toEqual([
      { path: 'params.body', message: 'Replace “[Name]” with what belongs there.' },
    ]);
    const refused = await desk.approve(approvalId, { 'If-Match': approval.contentHash });
    expect(refused.status).toBe(409);
    expect(refused.body.error.code).toBe('INPUT_REQUIRED');
  });

  it('may ask for a recipient instead of making one up', async () => {
    const packets = JSON.parse(answerWith({ to: [] }));
    packets.packets[0].needsInput = [{ path: 'params.to', message: 'What is the address of Jane?' }];
    model.reply = () => ({ content: JSON.stringify(packets) });
    const { approvalId } = await handIn();
    const approval = await desk.ready(approvalId);
    expect(approval.packets[0]).toMatchObject({
      needsInput: [{ path: 'params.to', message: 'What is the address of Jane?' }],
      action: { params: { to: [] } },
    });
  });
});

describe('a revision', () => {
  it('is given the packets it revises, with what a person wrote in them', async () => {
    const { approvalId } = await handIn();
    const { contentHash, packets } = await desk.ready(approvalId);
    const edited = await desk.client.send(
      'PATCH',
      `/approvals/${approvalId}`,
      {
        packets: [
          {
            workPacketId: packets[0].workPacketId,
            params: { ...packets[0].action.params, subject: 'New subject by Mara' },
          },
        ],
      },
      { 'If-Match': contentHash },
    );
    expect(edited.status, edited.text).toBe(200);
    expect((await desk.reject(approvalId, { feedback: 'Shorter.', revise: true })).status).toBe(200);
    await eventually(
      async () => model.requests,
      ({ length }) => length === 2,
    );
    const data = model.requests[1]!.body.messages[1]!.content;
    expect(data).toContain('Shorter.');
    expect(data).toContain('New subject by Mara');
    expect(data).toContain('"editedPaths":["params.subject"]');
  });
});
