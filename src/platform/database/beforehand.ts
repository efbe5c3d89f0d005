import { RequestContext } from '../kernel/request-context.js';

/**
 * A mutation needs something that takes seconds to compute. An open transaction must not wait for it: it would keep its
 * locks and its connection meanwhile. So this is thrown inside, which rolls the transaction back; the mutation's interceptor
 * computes it with no transaction open, and begins the mutation anew. The key names all that it depends on, so a mutation that
 * finds something changed asks for another one.
 */
export class NeededBeforehand extends Error {
  constructor(
    readonly key: string,
    readonly compute: () => Promise<unknown>,
  ) {
    super(`${key} has to be computed before the transaction`);
  }
}

/** What was computed for this request under this key. @throws NeededBeforehand where nothing was yet */
export function computedBeforehand<T>(key: string, compute: () => Promise<T>): T {
  const computed = RequestContext.current?.computed;
  if (!computed?.has(key)) throw new NeededBeforehand(key, compute);
  return computed.get(key) as T;
}

/** Computes it, and keeps it for the rest of the request. */
export async function computeBeforehand({ key, compute }: NeededBeforehand): Promise<void> {
  const result = await compute();
  RequestContext.current?.computed.set(key, result);
}

/** Each time something else has changed in between. */
const TRIES = 5;

/**
 * Runs an act that opens its transaction itself, as work does, and computes what it needs between two tries; the mutation's
 * interceptor does the same for requests. It runs within a RequestContext, which keeps what was computed.
 */
export async function withComputed<T>(act: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof NeededBeforehand) || tried === TRIES) throw error;
      await computeBeforehand(error);
    }
  }
}
