import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunnerFailed } from '../../src/features/capos/briefing.js';
import { ModelClient } from '../../src/features/capos/model-client.js';
import { ModelRunner } from '../../src/features/capos/model-runner.js';
import { LoopbackModel } from '../support/loopback-model.js';
import { briefing } from './briefings.js';

const content = JSON.stringify({
  summary: 'A memo is ready.',
  packets: [
    {
      title: 'Memo',
      type: 'document.file',
      target: 'Memo',
      params: { title: 'Memo', body: 'Two deliveries are late.' },
      rationale: 'Asked for.',
      multipliers: [],
    },
  ],
});
const MAX_TOKENS = 1_000;
const work = briefing('Write a memo on the delays.', 'capo_ops');

let model: LoopbackModel;
beforeAll(async () => {
  model = await LoopbackModel.start();
});
afterAll(() => model.stop());
let warnings: string[];
beforeEach(() => {
  warnings = [];
});

const runner = () =>
  new ModelRunner(
    new ModelClient({
      provider: 'openai-compatible',
      baseUrl: model.url,
      model: 'test-model',
      prices: { input: 1, output: 2 },
      maxTokens: MAX_TOKENS,
      warn: (message) => warnings.push(message),
    }),
  );
const draft = (from = runner()) => from.run(work, { signal: new AbortController().signal });
const costWith = async (usage: object | null) => {
  model.reply = () => ({ content, usage });
  return (await draft()).cost;
};
/** As it is written on the wire, JSON or not. */
const answersWith = (usage: string) => {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  const body = JSON.stringify({ id: 'x', choices, usage: 'USAGE' }).replace('"USAGE"', usage);
  model.reply = () => ({ status: 200, body });
};

describe('the tokens that a provider counts', () => {
  it('are taken where they can be', async () => {
    expect(await costWith({ prompt_tokens: 900, completion_tokens: 120 })).toEqual({
      amount: 0.00114,
      currency: 'USD',
      tokensIn: 900,
      tokensOut: 120,
    });
    expect(await costWith({ prompt_tokens: 900, completion_tokens: MAX_TOKENS })).toMatchObject({
      tokensOut: MAX_TOKENS,
    });
    expect(warnings).toEqual([]);
  });

  it.each<[string, number]>([
    ['more than any number of them', 1e300],
    ['more than a call can have', 1e15],
    ['more than the request has bytes', 10_000_000],
    ['negative', -1_000_000_000],
    ['a fraction', 1.5],
  ])('are estimated where they are %s, and that is said', async (_what, tokens) => {
    const estimated = await costWith(null);
    expect(estimated.tokensIn).toBeGreaterThan(0);
    expect(warnings).toEqual([]);
    expect(await costWith({ prompt_tokens: tokens, completion_tokens: tokens })).toEqual(estimated);
    expect(warnings).toEqual([expect.stringContaining(`counted ${tokens} tokens for a call`)]);
  });

  it('are estimated where the answer is shorter than they are', async () => {
    const { tokensOut } = await costWith(null);
    expect(await costWith({ prompt_tokens: 900, completion_tokens: MAX_TOKENS + 1 })).toMatchObject({
      tokensIn: 900,
      tokensOut,
    });
  });

  it.each([
    '{"prompt_tokens":"900","completion_tokens":"NaN"}',
    '{"prompt_tokens":1e400,"completion_tokens":{}}',
    '{"prompt_tokens":[],"completion_tokens":true,"total_tokens":"x"}',
    '"none"',
    '7',
  ])('are estimated where they are no numbers, and the answer is not lost: %s', async (usage) => {
    const estimated = await costWith(null);
    answersWith(usage);
    expect((await draft()).cost).toEqual(estimated);
  });

  it('are counted for an answer that nobody can read, too', async () => {
    answersWith('{"prompt_tokens":NaN,"completion_tokens":1}');
    const failed: RunnerFailed = await draft().then(
      () => expect.unreachable(),
      (error: unknown) => error as RunnerFailed,
    );
    expect(failed).toMatchObject({ code: 'provider_unavailable', retryable: true });
    expect(failed.cost.tokensIn).toBeGreaterThan(0);
    expect(failed.cost.tokensOut).toBeGreaterThan(0);
  });

  it('are warned of once', async () => {
    const one = runner();
    model.reply = () => ({ content, usage: { prompt_tokens: -1, completion_tokens: -2 } });
    await draft(one);
    await draft(one);
    expect(warnings).toHaveLength(1);
  });

  it('are whole numbers within what the call can have, whatever is said', async () => {
    const anything = fc.oneof(fc.double(), fc.integer(), fc.maxSafeInteger(), fc.constant(null));
    await fc.assert(
      fc.asyncProperty(anything, anything, async (prompt_tokens, completion_tokens) => {
        const { amount, tokensIn, tokensOut } = await costWith({ prompt_tokens, completion_tokens });
        for (const tokens of [tokensIn, tokensOut]) {
          expect(Number.isSafeInteger(tokens)).toBe(true);
          expect(tokens).toBeGreaterThanOrEqual(0);
        }
        expect(tokensOut).toBeLessThanOrEqual(MAX_TOKENS);
        expect(amount).toBeLessThan(1);
      }),
      { numRuns: 50 },
    );
  });
});
