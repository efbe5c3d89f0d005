import { CallFailed } from './call-failed.js';
import { PooledProcess, type ProcessLimits } from './pooled-process.js';

export interface ProcessPoolOptions extends ProcessLimits {
  /** The module that calls {@link serveCalls}. */
  entry: URL;
  size: number;
}

/**
 * Computes in processes of its own what must not hold up the service. For code of ours that reads what strangers wrote: a
 * text for which the code loops or eats memory ends one call and not the service. A thread would not do: when a single allocation does not fit (a
 * `replace` that multiplies the text), V8 ends the whole process, `resourceLimits` or not.
 *
 * A process is started when it is first needed, then kept, and replaced when it has ended.
 */
export class ProcessPool<Input, Output> {
  readonly #processes = new Set<PooledProcess<Input, Output>>();
  readonly #idle: PooledProcess<Input, Output>[] = [];
  readonly #waiting: ((process: PooledProcess<Input, Output>) => void)[] = [];
  readonly #closing = new AbortController();

  constructor(private readonly options: ProcessPoolOptions) {}

  /** Rejects with {@link CallFailed}. The wait while all processes are busy does not count as time of the call. */
  async run(input: Input, signal: AbortSignal): Promise<Output> {
    const either = AbortSignal.any([signal, this.#closing.signal]);
    if (either.aborted) throw notBegun();
    const process = this.#free() ?? (await this.#turn(either));
    try {
      return await process.call(input, either);
    } finally {
      this.#release(process);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(Array.from(this.#processes, (process) => process.end()));
  }

  #free(): PooledProcess<Input, Output> | undefined {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (idle.isAlive) return idle;
      this.#processes.delete(idle);
    }
    return this.#processes.size < this.options.size ? this.#start() : undefined;
  }

  #start(): PooledProcess<Input, Output> {
    const process = new PooledProcess<Input, Output>(this.options.entry, this.options);
    this.#processes.add(process);
    return process;
  }

  #release(process: PooledProcess<Input, Output>): void {
    if (!process.isAlive) this.#processes.delete(process);
    const next = this.#waiting.shift();
    if (next) next(process.isAlive ? process : this.#start());
    else if (process.isAlive) this.#idle.push(process);
  }

  /** The process that is free next, in the order of asking. */
  #turn(signal: AbortSignal): Promise<PooledProcess<Input, Output>> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(serve), 1);
        reject(notBegun());
      };
      const serve = (process: PooledProcess<Input, Output>) => {
        signal.removeEventListener('abort', leave);
        resolve(process);
      };
      this.#waiting.push(serve);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}

function notBegun(): CallFailed {
  return new CallFailed('aborted', 'The call was cancelled before it began.');
}
