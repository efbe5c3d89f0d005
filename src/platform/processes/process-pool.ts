import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { CallFailed } from './call-failed.js';
import type { Call, Report } from './serve-calls.js';

/** To start and to load its code, on a machine that has other things to do. */
const START_LIMIT_MS = 30_000;
const TICK_MS = 100;
/** By the clock a call may take so many times its limit, on a machine that has other things to do. */
const MOST_BY_THE_CLOCK = 10;
/** What V8 writes before it ends the process, whichever limit of memory it has met. */
const OUT_OF_MEMORY = /FATAL ERROR|Fatal JavaScript|out of memory/i;
const STDERR_CHARACTERS = 4_000;

interface ProcessLimits {
  /** Of one call, once the process is ready for it: processor time where the system tells it (Linux), else by the clock. */
  timeLimitMs: number;
  /** Of the heap of the process. */
  memoryLimitMb: number;
  /** How far it gives way to other processes, 0 (not at all, unless said) to 19. */
  niceness?: number;
}

/** One process that computes for this one, a call at a time. It keeps nothing alive and does not survive its host. */
class PooledProcess<Input, Output> {
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;
  #ready = false;
  #stderr = '';
  #report: ((report: Report<Output>) => void) | undefined;
  #fail: ((failure: CallFailed) => void) | undefined;
  #end: CallFailed | undefined;

  constructor(
    entry: URL,
    private readonly limits: ProcessLimits,
  ) {
    this.#child = fork(entry, {
      // Neither settings nor secrets of the service; what it preloads (a module hook, instrumentation) it preloads here.
      env: {},
      execArgv: [...preloads(process.execArgv), `--max-old-space-size=${limits.memoryLimitMb}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const { niceness = 0 } = limits;
    // Without a pid it could not be started, which its own event says.
    if (niceness > 0 && this.#child.pid !== undefined) setPriority(this.#child.pid, niceness);
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      if (this.#stderr.length < STDERR_CHARACTERS) this.#stderr += chunk.toString();
    });
    this.#child.on('message', (report: Report<Output>) => this.#receive(report));
    this.#closed = new Promise((resolve) => {
      this.#child.on('close', (code, signal) => {
        this.#ended(this.#failure(code, signal));
        resolve();
      });
      this.#child.on('error', (error) => {
        this.#ended(new CallFailed('crashed', `The process could not be started: ${error.message}`));
        resolve();
      });
    });
    this.#keepsHost(false);
  }

  get isAlive(): boolean {
    return this.#end === undefined;
  }

  /** The result of one call; whatever ends the call early ends the process. Rejects with {@link CallFailed}. */
  async call(input: Input, signal: AbortSignal): Promise<Output> {
    const { timeLimitMs } = this.limits;
    // Ticks are counted, not time: while this process is stopped or busy the call cannot be answered, and is not late.
    let ticks = 0;
    let usedBefore = this.#usedMs();
    const timer = setInterval(() => {
      ticks += 1;
      if (!this.#ready && ticks * TICK_MS > START_LIMIT_MS)
        this.#kill(new CallFailed('crashed', 'The process did not start in time.'));
      const byTheClockMs = ticks * TICK_MS;
      const isLate =
        byTheClockMs > timeLimitMs &&
        (byTheClockMs > MOST_BY_THE_CLOCK * timeLimitMs ||
          usedBefore === undefined ||
          this.#usedMs()! - usedBefore > timeLimitMs);
      if (this.#ready && isLate)
        this.#kill(new CallFailed('timeout', `The call needed more than ${timeLimitMs / 1_000} s.`));
    }, TICK_MS);
    const abort = () => this.#kill(new CallFailed('aborted', 'The call was cancelled.'));
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await new Promise<Output>((resolve, reject) => {
        this.#fail = reject;
        this.#report = (report) => {
          if (report.type === 'ready') {
            ticks = 0;
            usedBefore = this.#usedMs();
          }
          if (report.type === 'done') resolve(report.output);
          if (report.type === 'threw') {
            const { name, message, stack } = report.error;
            reject(Object.assign(new CallFailed('threw', message, name), { stack }));
          }
        };
        if (this.#end) reject(this.#end);
        const call: Call<Input> = { input, abandonedAfterMs: MOST_BY_THE_CLOCK * timeLimitMs };
        // A process that has just ended says so itself.
        this.#child.send(call, () => undefined);
      });
    } finally {
      this.#fail = this.#report = undefined;
      signal.removeEventListener('abort', abort);
      clearInterval(timer);
    }
  }

  /** The processor time of the process so far, in milliseconds; undefined where the system does not tell it. */
  #usedMs(): number | undefined {
    try {
      const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'latin1');
      // Behind the name, which may hold anything; in hundredths of a second (proc_pid_stat(5): utime, stime).
      const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12);
      return (Number(user) + Number(system)) * 10;
    } catch {
      return undefined;
    }
  }

  async end(): Promise<void> {
    this.#keepsHost(true);
    this.#kill(new CallFailed('aborted', 'The service is ending.'));
    await this.#closed;
  }

  /** Whether this process may end while the other one is there. */
  #keepsHost(keeps: boolean): void {
    const stderr = this.#child.stderr as Socket | null;
    for (const handle of [this.#child, this.#child.channel, stderr]) {
      if (keeps) handle?.ref();
      else handle?.unref();
    }
  }

  #receive(report: Report<Output>): void {
    if (report.type === 'ready') this.#ready = true;
    this.#report?.(report);
  }

  #kill(because: CallFailed): void {
    this.#child.kill('SIGKILL');
    this.#ended(because);
  }

  #ended(because: CallFailed): void {
    this.#end ??= because;
    this.#fail?.(this.#end);
  }

  #failure(code: number | null, signal: NodeJS.Signals | null): CallFailed {
    return OUT_OF_MEMORY.test(this.#stderr)
      ? new CallFailed('memory', `The call needed more than ${this.limits.memoryLimitMb} MB of memory.`)
      : new CallFailed('crashed', `The process ended with ${signal ?? `code ${code}`}.`);
  }
}

/** The flags, with their values, that load a module before the program. */
function preloads(flags: readonly string[]): string[] {
  return flags.flatMap((flag, index) => {
    if (/^--(?:import|require)=/.test(flag)) return [flag];
    return flag === '--import' || flag === '--require' || flag === '-r' ? [flag, flags[index + 1]!] : [];
  });
}

interface ProcessPoolOptions extends ProcessLimits {
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
