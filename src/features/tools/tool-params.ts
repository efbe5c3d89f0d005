import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Fault } from '../../platform/kernel/define-error.js';
import { Unavailable } from '../../platform/kernel/errors.js';
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
const MAX_PARAMS_BYTES = 64 * 1024;
const MAX_DEPTH = 32;

/**
 * Checks schemas of tools, and parameters against them, in processes apart. Call it with no transaction open, as by
 * `computedBeforehand`. One workspace uses one process at a time, so that its slow schema leaves the other to everybody else.
 */
@Injectable()
export class ToolParams implements OnApplicationShutdown {
  readonly #processes = new ProcessPool<ParamsCall, Fault[]>({
    entry: new URL('./tool-params-process.js', import.meta.url),
    size: 2,
    timeLimitMs: TIME_LIMIT_MS,
    memoryLimitMb: 64,
  });
  readonly #turns = new Map<string, Promise<unknown>>();

  /**
   * Nothing is converted and no default is filled in; what the tool does not declare is a fault.
   * @throws Unavailable when no process was free in time
   */
  async validate(
    tool: Pick<ToolEntity, 'paramsSchema'> & Partial<Pick<ToolEntity, 'workspaceId'>>,
    params: unknown,
  ): Promise<ParamsVerdict> {
    const faults = faultsOfAnyParams(params);
    if (faults.length > 0) return { ok: false, faults };
    return this.check({ schema: tool.paramsSchema, params }, tool.workspaceId ?? '');
  }

  /** @throws Unavailable when no process was free in time */
  checkSchema(schema: Record<string, unknown>, workspaceId: string): Promise<ParamsVerdict> {
    return this.check({ schema }, workspaceId);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#processes.close();
  }

  private async check(call: ParamsCall, workspaceId: string): Promise<ParamsVerdict> {
    const signal = AbortSignal.timeout(WAIT_MS);
    const earlier = this.#turns.get(workspaceId) ?? Promise.resolve();
    const run = earlier.then(() => this.#processes.run(call, signal));
    const turn = run.catch(() => undefined);
    this.#turns.set(workspaceId, turn);
    try {
      const faults = await run;
      return faults.length === 0 ? { ok: true } : { ok: false, faults };
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      if (error.reason === 'aborted' || error.reason === 'crashed') throw new Unavailable({ cause: error });
      return { ok: false, timeout: true };
    } finally {
      if (this.#turns.get(workspaceId) === turn) this.#turns.delete(workspaceId);
    }
  }
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
