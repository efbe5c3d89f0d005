import { AsyncLocalStorage } from 'node:async_hooks';

export type TraceAttributes = Readonly<Record<string, string | number | undefined>>;

/** What is being served, as one step of a trace. Its children are what takes time in it: transactions, calls of others. */
export interface Trace {
  /** As W3C Trace Context writes it. */
  readonly traceparent: string;
  /** Runs `step` as a step below this one; `step` is told its own `traceparent`. */
  child<T>(
    name: string,
    attributes: TraceAttributes,
    step: (traceparent: string | undefined) => Promise<T>,
  ): Promise<T>;
}

const store = new AsyncLocalStorage<RequestContext>();

/** What belongs to the request, or the attempt at work, that is being served, wherever the code is that serves it. */
export class RequestContext {
  #roundTrips = 0;
  /** Whether it only stops work, and so goes before everything else. */
  urgent = false;
  /** What its mutation needed and was computed while no transaction was open, by key (platform/database/beforehand.ts). */
  readonly computed = new Map<string, unknown>();

  /** A replica may answer its reads that has come to this position; undefined: only the primary may. */
  readsAfter: string | undefined;
  /** Whether a replica has answered one of its reads. */
  readReplica = false;
  /** Whether its caller is to hear where what it commits stands, and where that is. */
  notesPosition = false;
  position: string | undefined;

  /** Undefined: it is not traced. */
  trace: Trace | undefined;

  constructor(readonly requestId: string) {}

  static get current(): RequestContext | undefined {
    return store.getStore();
  }

  static run<T>(context: RequestContext, work: () => T): T {
    return store.run(context, work);
  }

  /** Round trips to the database so far; logged with the request, and asserted in tests. */
  get roundTrips(): number {
    return this.#roundTrips;
  }

  addRoundTrips(count: number): void {
    this.#roundTrips += count;
  }
}

/** Runs `step` as a step of the trace that what is being served belongs to; without one it is only run. */
export function traced<T>(
  name: string,
  attributes: TraceAttributes,
  step: (traceparent: string | undefined) => Promise<T>,
): Promise<T> {
  const trace = RequestContext.current?.trace;
  return trace ? trace.child(name, attributes, step) : step(undefined);
}
