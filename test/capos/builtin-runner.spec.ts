import { afterAll, describe, expect, it } from 'vitest';
import { RunnerFailed } from '../../src/features/capos/briefing.js';
import { BuiltinRunner } from '../../src/features/capos/builtin-runner.js';
import { briefing } from './briefings.js';

const runner = new BuiltinRunner();
afterAll(() => runner.onApplicationShutdown());

describe('the runner', () => {
  it('says that it is the built-in one and costs nothing', async () => {
    expect(
      await runner.run(briefing('Do it', 'ceo'), { signal: new AbortController().signal }),
    ).toMatchObject({
      engine: { name: 'builtin', model: null },
      cost: { amount: 0, currency: 'USD', tokensIn: 0, tokensOut: 0 },
    });
  });

  it('does not start when it was stopped before', async () => {
    const run = runner.run(briefing('Do it', 'ceo'), { signal: AbortSignal.abort() });
    await expect(run).rejects.toThrow(RunnerFailed);
    await expect(run).rejects.toMatchObject({ code: 'aborted', retryable: false });
  });

  it('is stopped at once by the signal', async () => {
    const controller = new AbortController();
    const run = runner.run(briefing('Do it', 'ceo'), { signal: controller.signal });
    controller.abort();
    await expect(run).rejects.toMatchObject({ code: 'aborted', retryable: false });
  });

  describe('over code that goes wrong', () => {
    const over = (timeLimitMs: number) =>
      new BuiltinRunner({
        entry: new URL('./hostile-capo.js', import.meta.url),
        size: 2,
        timeLimitMs,
        memoryLimitMb: 48,
      });
    // Only what never ends meets its limit, however busy the machine is.
    const [hurried, patient] = [over(1_000), over(60_000)] as const;
    afterAll(() => Promise.all([hurried.onApplicationShutdown(), patient.onApplicationShutdown()]));
    const run = (text: string) =>
      (text === 'loop' ? hurried : patient).run(briefing(text, 'ceo'), {
        signal: new AbortController().signal,
      });

    it.each([
      ['loop', 'timeout', 'The runner failed. The call needed more than 1 s. Nothing was drafted.', false],
      [
        'eat memory',
        'out_of_memory',
        'The runner failed. The call needed more than 48 MB of memory. Nothing was drafted.',
        false,
      ],
      [
        'crash',
        'crashed',
        expect.stringMatching(/^The runner failed. The process ended with .+ Nothing was drafted.$/),
        true,
      ],
      [
        'write too much',
        'invalid_output',
        'The runner failed. The remarks has 1,000,000 characters; at most 4,000 are allowed. Nothing was drafted.',
        false,
      ],
    ])('fails when told to %s, and drafts the next', async (text, code, message, retryable) => {
      const failure = await run(text).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RunnerFailed);
      expect(failure).toMatchObject({ code, message, retryable });
      expect(await run('draft')).toMatchObject({ remarks: 'Ready.' });
    });

    it('hands on what the code throws, as the defect it is', async () => {
      const failure = await run('throw').catch((error: unknown) => error);
      expect(failure).not.toBeInstanceOf(RunnerFailed);
      expect(failure).toMatchObject({ message: 'A defect.', stack: expect.stringContaining('hostile-capo') });
    });

    it('drafts for others while one text loops', async () => {
      const controller = new AbortController();
      const looping = patient
        .run(briefing('loop', 'ceo'), { signal: controller.signal })
        .catch((error: unknown) => error);
      const others = await Promise.all(Array.from({ length: 20 }, () => run('draft')));
      expect(others).toHaveLength(20);
      controller.abort();
      expect(await looping).toMatchObject({ code: 'aborted' });
    });
  });
});
