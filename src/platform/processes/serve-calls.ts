import { createContext, Script } from 'node:vm';

/** What the host of a pooled process asks of it. */
export interface Call<Input> {
  input: Input;
  /** When the process ends the call by itself, because no host did. */
  abandonedAfterMs: number;
}

/** What a pooled process tells its host. */
export type Report<Output> =
  | { type: 'ready' }
  | { type: 'done'; output: Output }
  | { type: 'threw'; error: { name: string; message: string; stack?: string | undefined } };

/**
 * The other side of {@link ProcessPool}: answers each call of the host with what `compute` returns or throws. The host
 * ends a call that takes too long; should the host be gone by then, this process ends itself.
 */
export function serveCalls(compute: (input: never) => unknown): void {
  const report = (message: Report<unknown>) => process.send?.(message);
  // A signal to the whole group is for the host, which lets its work end; without a host this process ends by itself.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
  process.on('message', ({ input, abandonedAfterMs }: Call<never>) => {
    try {
      report({ type: 'done', output: within(abandonedAfterMs, () => compute(input)) });
    } catch (error) {
      const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
      report({ type: 'threw', error: { name, message, stack } });
    }
  });
  report({ type: 'ready' });
}

const CALL = new Script('call()');
const callable = { call: (): unknown => undefined };
const context = createContext(callable);

/** Only a script has a time limit that also ends a loop and a regular expression. */
function within<T>(timeoutMs: number, call: () => T): T {
  callable.call = call;
  return CALL.runInContext(context, { timeout: timeoutMs }) as T;
}
