import { NO_COST } from '../terms/terms.js';
import { RunnerFailed, type Briefing, type CapoRunner, type Draft } from './briefing.js';
import { draftFrom } from './builtin/draft.js';

/**
 * The capo that needs no key and no network. It reads the instruction by rules, so the same briefing always makes
 * the same draft; it writes nothing that the instruction, the context or the buyers' data didn't supply.
 */
export class BuiltinRunner implements CapoRunner {
  async run(briefing: Briefing, { signal }: { signal: AbortSignal }): Promise<Draft> {
    if (signal.aborted) throw new RunnerFailed('aborted', 'The run was stopped before it began.', false);
    return { ...draftFrom(briefing), engine: { name: 'builtin', model: null }, cost: { ...NO_COST } };
  }
}
