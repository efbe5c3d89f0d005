import { setTimeout as sleep } from 'node:timers/promises';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Wire } from '../../support/wire.js';
import {
  killBeforeAnswer,
  killBeforeMail,
  killModelCall,
  killUnheard,
  killWithoutAnswer,
} from './kill-elsewhere.js';
import { killWhileApproving } from './kill-while-approving.js';
import { killWhileSending } from './kill-while-sending.js';
import {
  answeredWhileStopped,
  abortedWhenContinued,
  killPastStoppedHolder,
  recoveredWhileStopped,
} from './kill-while-stopped.js';
import { MailingService, spread } from './mailing-service.js';

/** How often each is tried. */
export interface Sizes {
  /** Kills while mail is being sent. */
  sending: number;
  /** Kills while approvals come in. */
  approving: number;
  /** Kills with one run or mail under way in another process. */
  elsewhere: number;
  /** Kills with a process stopped, of each kind. */
  stopped: number;
}

/**
 * The kill switch over three processes, one database, a model and a mail server. The bounds are generous, since the
 * machine may be busy; the figures are printed.
 */
export function describeKill(sizes: Sizes, timeout: number): void {
  const model = new LLMock({ port: 0, logLevel: 'silent' });
  const figures: Record<string, unknown> = {};
  let wire: Wire;
  let mailing: MailingService;

  beforeAll(async () => {
    await model.start();
    wire = await Wire.to(Number(new URL(model.url).port));
    mailing = await MailingService.start({
      MODEL_PROVIDER: 'openai-compatible',
      MODEL_BASE_URL: `http://127.0.0.1:${wire.port}/v1`,
      MODEL_NAME: 'test-model',
    });
  }, 90_000);
  afterAll(async () => {
    console.table(figures);
    await mailing.close();
    wire.close();
    await model.stop();
  });
  // After a failure the others still begin with three running processes and no kill.
  afterEach(async () => {
    for (const process of mailing.processes) process.signal('SIGCONT');
    const { body } = await mailing.service.client().get('/guardian');
    if (body.mode === 'killed') await mailing.revert();
  });

  async function repeat(times: number, once: () => Promise<number>): Promise<number[]> {
    const measured: number[] = [];
    while (measured.length < times) measured.push(await once());
    return measured;
  }

  describe(`a kill while three processes send (${sizes.sending} times)`, { timeout }, () => {
    it('lets none start, names what is under way, and with the revert exactly the halted go on, each once', async () => {
      Object.assign(figures, await killWhileSending(mailing, sizes.sending));
    });
  });

  describe(`a kill while 100 decisions a request come in (${sizes.approving} times)`, { timeout }, () => {
    it('finds each approved before it or refused with 423, and nothing refused is sent', async () => {
      Object.assign(figures, await killWhileApproving(mailing, sizes.approving));
    });
  });

  describe(`what is under way in another process (${sizes.elsewhere} times each)`, { timeout }, () => {
    it('is cut when it is a model call', async () => {
      const times = await repeat(sizes.elsewhere, () => killModelCall(mailing, model, wire));
      figures['answer to the model call cut'] = spread(times);
      expect(Math.max(...times)).toBeLessThan(1_000);
    });

    it('is cut when it is a mail that has not begun, and goes out once however often that was', async () => {
      const times = await killBeforeMail(mailing, Math.max(6, sizes.elsewhere));
      figures['answer to the mail cut'] = spread(times);
      expect(Math.max(...times)).toBeLessThan(1_000);
    });

    it('is recorded when it is a mail that has gone over and is answered', async () => {
      await killBeforeAnswer(mailing);
    });

    it('is cut later when it is a mail that has gone over and is never answered', async () => {
      const times = await repeat(Math.ceil(sizes.elsewhere / 10), () => killWithoutAnswer(mailing));
      figures['answer to the unanswered mail cut'] = spread(times);
      expect(Math.max(...times)).toBeLessThan(4_000);
    });

    it('is cut by its lease when nobody heard the kill', async () => {
      const times = await repeat(Math.ceil(sizes.elsewhere / 10), () => killUnheard(mailing));
      figures['answer to the mail cut, unheard'] = spread(times);
      expect(Math.max(...times)).toBeLessThan(5_000);
    });
  });

  describe(`a process that was stopped (${sizes.stopped} times each)`, { timeout }, () => {
    async function times(once: (mailing: MailingService) => Promise<unknown>): Promise<void> {
      for (let time = 0; time < sizes.stopped; time++) await once(mailing);
    }

    it('records the mail that was answered meanwhile', () => times(answeredWhileStopped));

    it('has its late result recorded when another has given it up, and nothing is sent again', () =>
      times(recoveredWhileStopped));

    it('sends nothing when it goes on before the mail has begun', () => times(abortedWhenContinued));

    it('keeps no kill waiting, even if it holds the guardian', async () => {
      const waits = await repeat(sizes.stopped, () => killPastStoppedHolder(mailing));
      figures['request to answer, a stopped process holding the guardian'] = spread(waits);
      expect(Math.max(...waits)).toBeLessThan(6_000);
    });
  });

  describe('after all that', () => {
    it('has sent nothing twice, and sends nothing more', async () => {
      const { receiver } = mailing;
      const before = receiver.received.length;
      await sleep(1_500);
      expect(receiver.received.length).toBe(before);
      expect(new Set(receiver.received).size).toBe(before);
      expect(receiver.unmarked).toEqual([]);
      await mailing.expectSound();
    });
  });
}
