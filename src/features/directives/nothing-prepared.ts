import type { WorkError } from '../../platform/work/work-item.js';
import { type Draft, quotable } from '../capos/index.js';

export const NOTHING_PREPARED = 'NOTHING_PREPARED';

/** Why nothing came of a directive, in the words of the runner; those of a model are quoted, and are not ours. */
export function nothingPrepared({ engine, remarks }: Pick<Draft, 'engine' | 'remarks'>): WorkError {
  // The built-in runner ends so by itself.
  const said = quotable(remarks, undefined).replace(/\s*Nothing was prepared\.$/, '');
  const reason =
    said === ''
      ? 'its capo found nothing in it that it could do.'
      : engine.model === null
        ? said
        : `“${said}”`;
  return { code: NOTHING_PREPARED, message: `Nothing was prepared: ${reason}` };
}
