import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Fault } from '../../platform/kernel/define-error.js';
import { RateLimited, Unavailable } from '../../platform/kernel/errors.js';
import { CallFailed } from '../../platform/processes/call-failed.js';
import { ProcessPool } from '../../platform/processes/process-pool.js';
import type { ToolEntity } from './tool.entity.js';

export interface ParamsCall {
  schema: Record<string, unknown>;
  /** Left out: the schema itself is checked. */
  params?: unknown;
}

export type ParamsVerdict =
  | { ok: true }
  | { ok: false; faults: Fault[]; timeout?: undefined }
  /** The check met its limit of time or memory, and would again: nothing is known of the parameters. */
  | { ok: false; timeout: true; faults?: undefined };

const TIME_LIMIT_MS = 1_000;
/** With the wait for a process that is free, and for one to start. */
const WAIT_MS = 10_000;
/** Checks of one caller that wait or run at one time: room for a burst of the usual ones, which take a millisecond. */
const MAX_WAITING = 64;
const RETRY_AFTER_SECONDS = 2;
const MAX_PARAMS_BYTES = 64 * 1024;
const MAX_DEPTH = 32;

/**
 * Checks schemas of tools, and parameters against them, in processes apart. Call it with no transaction open, as by
 * `computedBeforehand`. One workspace uses one process at a time, so that its slow schema leaves the other to everybody else, and
 * its callers take turns: each has one check at most in the queue of the workspace, however many it has sent.
 */
@Injectable()
export class ToolParams implements OnApplicationShutdown {
  readonly #processes = new ProcessPool<ParamsCall, Fault[]>({
    entry: new URL('./tool-params-process.js', import.meta.url),
    size: 2,
    timeLimitMs: TIME_LIMIT_MS,
    memoryLimitMb: 64,
  });
  readonly #turns = new Map<string, { last: Promise<unknown>; waiting: number }>();

  /**
   * Nothing is converted and no default is filled in; what the tool does not declare is a fault.
   * @param callerId the id of the actor who has it checked
   * @throws RateLimited for a caller with too many checks waiting, Unavailable when no process was free in time
   */
  async validate(
    { paramsSchema, workspaceId }: Pick<ToolEntity, 'paramsSchema' | 'workspaceId'>,
    params: unknown,
    callerId: string,
  ): Promise<ParamsVerdict> {
    const faults = faultsOfAnyParams(params);
    if (faults.length > 0) return { ok: false, faults };
    return this.check({ schema: paramsSchema, params }, workspaceId, callerId);
  }

  /** @throws RateLimited, Unavailable, as {@link validate} */
  checkSchema(
    schema: Record<string, unknown>,
    workspaceId: string,
    callerId: string,
  ): Promise<ParamsVerdict> {
    return this.check({ schema }, workspaceId, callerId);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#processes.close();
  }

  private async check(call: ParamsCall, workspaceId: string, callerId: string): Promise<ParamsVerdict> {
    const ofCaller = `${workspaceId} ${callerId}`;
    if ((this.#turns.get(ofCaller)?.waiting ?? 0) >= MAX_WAITING) throw tooManyWaiting();
    const signal = AbortSignal.timeout(WAIT_MS);
    const run = () => this.#processes.run(call, signal);
    try {
      const faults = await this.inTurn(ofCaller, () => this.inTurn(workspaceId, run));
      return faults.length === 0 ? { ok: true } : { ok: false, faults };
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      // A client that comes back at once would only wait again.
      if (error.reason === 'aborted')
        throw new Unavailable({ cause: error, retryAfterSeconds: WAIT_MS / 1_000 });
      if (error.reason === 'crashed') throw new Unavailable({ cause: error });
      return { ok: false, timeout: true };
    }
  }

  /** Runs it once all that came before it under this key has ended. */
  private async inTurn<T>(key: string, run: () => Promise<T>): Promise<T> {
    const turns = this.#turns.get(key) ?? { last: Promise.resolve(), waiting: 0 };
    this.#turns.set(key, turns);
    turns.waiting++;
    const result = turns.last.then(run);
    turns.last = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      if (--turns.waiting === 0) this.#turns.delete(key);
    }
  }
}

function tooManyWaiting(): Error {
  return new RateLimited({
    message: `At most ${MAX_WAITING} of your requests can have their parameters or schemas checked at one time.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    details: { policy: 'tool-checks', limit: MAX_WAITING, windowSeconds: 0 },
  });
}

/** The faults that parameters of any tool can have, registered or not (CONTRACT section 7). */
export function faultsOfAnyParams(params: unknown): Fault[] {
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    return [{ path: 'params', rule: 'isObject', message: 'params must be an object' }];
  const faults = faultsWithin(params, 'params', 1);
  if (faults.length === 0 && Buffer.byteLength(JSON.stringify(params)) > MAX_PARAMS_BYTES)
    faults.push({ path: 'params', rule: 'maxJsonBytes', message: 'params must have at most 64 KB as JSON' });
  return faults;
}

function faultsWithin(value: unknown, path: string, depth: number): Fault[] {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    const message = `${path} must lie between -(2^53 - 1) and 2^53 - 1; send a larger integer as text`;
    return [{ path, rule: 'safeInteger', message }];
  }
  if (typeof value !== 'object' || value === null) return [];
  if (depth > MAX_DEPTH)
    return [{ path, rule: 'maxDepth', message: `params must be at most ${MAX_DEPTH} levels deep` }];
  return Object.entries(value).flatMap(([key, each]) => faultsWithin(each, `${path}.${key}`, depth + 1));
}
