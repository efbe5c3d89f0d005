import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { BUILTIN_PROCESSES, type Briefing, BuiltinRunner, type Draft, RunnerFailed } from '../capos/index.js';

/**
 * Somebody waits for the answer: longer than this, and it is given without the work packets. A second more than the rules
 * themselves may take, for the start of the process or the wait for it.
 */
const PATIENCE_MS = BUILTIN_PROCESSES.timeLimitMs + 1_000;

/**
 * The built-in rules for those who only ask. One process of its own, with the limits of those that draft: however many
 * ask, and whatever they ask, no draft waits for them. It is started when it is first needed.
 */
@Injectable()
export class PreflightRunner implements OnApplicationShutdown {
  readonly #runner = new BuiltinRunner({ ...BUILTIN_PROCESSES, size: 1 });

  /** Rejects with `RunnerFailed` when the rules do not come to an end in time, the wait for the process included. */
  async run(briefing: Briefing): Promise<Draft> {
    try {
      return await this.#runner.run(briefing, { signal: AbortSignal.timeout(PATIENCE_MS) });
    } catch (error) {
      if (!(error instanceof RunnerFailed) || error.code !== 'aborted') throw error;
      const message = `The built-in rules did not come to an end within ${PATIENCE_MS / 1_000} s.`;
      throw new RunnerFailed('timeout', message, true);
    }
  }

  onApplicationShutdown(): Promise<void> {
    return this.#runner.onApplicationShutdown();
  }
}
