import type { OnApplicationShutdown } from '@nestjs/common';
import { CallFailed } from '../../platform/processes/call-failed.js';
import { ProcessPool } from '../../platform/processes/process-pool.js';
import { NO_COST } from '../terms/index.js';
import { RunnerFailed, type Briefing, type CapoRunner, type Draft, type DraftContent } from './briefing.js';
import { DraftTooLarge } from './draft-bounds.js';

const entry = new URL('./builtin-process.js', import.meta.url);
export const BUILTIN_PROCESSES = { entry, size: 2, timeLimitMs: 5_000, memoryLimitMb: 64 };

/** Needs no key and no network. Its rules run in a process apart: for some text they may take too long or too much. */
export class BuiltinRunner implements CapoRunner, OnApplicationShutdown {
  /** A workspace whose texts take long leaves the others a process. */
  readonly perWorkspace = 1;
  readonly isFree = true;
  readonly #processes: ProcessPool<Briefing, DraftContent>;

  constructor(options = BUILTIN_PROCESSES) {
    this.#processes = new ProcessPool(options);
  }

  async run(briefing: Briefing, { signal }: { signal: AbortSignal }): Promise<Draft> {
    const draft = await this.#processes.run(briefing, signal).catch((error: unknown) => {
      throw error instanceof CallFailed ? failureOf(error) : error;
    });
    return { ...draft, engine: { name: 'builtin', model: null }, cost: { ...NO_COST } };
  }

  onApplicationShutdown = (): Promise<void> => this.#processes.close();
}

/** The same text would meet the same limit again; only what ended the process from outside may not come again. */
function failureOf(failed: CallFailed): Error {
  const { reason, thrownName, message } = failed;
  if (reason === 'threw' && thrownName !== DraftTooLarge.name) return failed;
  const code = reason === 'threw' ? 'invalid_output' : reason === 'memory' ? 'out_of_memory' : reason;
  return new RunnerFailed(code, `The runner failed. ${message} Nothing was drafted.`, reason === 'crashed');
}
