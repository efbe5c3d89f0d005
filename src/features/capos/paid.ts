import { type Cost, NO_COST } from '../terms/index.js';
import { type Draft, RunnerFailed } from './briefing.js';

/** What was paid for a model. */
export interface Paid {
  /** Null where no model was asked, or nobody can tell which. */
  engine: Draft['engine'] | null;
  cost: Cost;
}

const NOTHING: Paid = { engine: null, cost: NO_COST };

/** By the error with which the work failed: any error will do, a defect of ours too, since the model has been paid by then. */
const paidForErrors = new WeakMap<object, Paid>();

/** Notes what was paid for before work failed with this error; answers the error, to be thrown. */
export function failedAfterPaying(error: unknown, paid: Paid): unknown {
  if (typeof error === 'object' && error !== null) paidForErrors.set(error, paid);
  return error;
}

/** What was paid for before work failed with this error. */
export function paidBefore(error: unknown): Paid {
  const noted = typeof error === 'object' && error !== null ? paidForErrors.get(error) : undefined;
  if (noted) return noted;
  return error instanceof RunnerFailed ? { engine: null, cost: error.cost } : NOTHING;
}

export function isPaid({ cost }: Pick<Paid, 'cost'>): boolean {
  return cost.tokensIn + cost.tokensOut > 0;
}
