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
