import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** A message of JSON-RPC 2.0: a request, a notification or an answer. */
export interface Message {
  jsonrpc: '2.0';
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

/** A longer line is no message of anybody's: it would have to be held in memory until it ends. */
const MAX_LINE_BYTES = 10 * 1024 * 1024;

/**
 * The messages of a stream, one a line; `undefined` for a line that is none. A message waits until
 * it is read, so a peer that writes faster than the other side reads has to wait too.
 * @throws LineTooLong
 */
export async function* messagesOf(input: Readable): AsyncGenerator<Message | undefined, void, undefined> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, end)]);
      if (line.length > MAX_LINE_BYTES) throw new LineTooLong();
      [parts, size, from] = [[], 0, end + 1];
      const text = line.toString('utf8').trim();
      if (text !== '') yield messageOf(text);
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_LINE_BYTES) throw new LineTooLong();
  }
}

class LineTooLong extends Error {
  constructor() {
    super(`it wrote a line of more than ${MAX_LINE_BYTES / 1024 / 1024} MB`);
  }
}

function messageOf(text: string): Message | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return undefined;
  const { id, method, params, result, error } = value;
  const hasId = typeof id === 'string' || typeof id === 'number';
  const isCall = typeof method === 'string' && (params === undefined || isObject(params));
  const isAnswer = hasId && method === undefined && (result !== undefined || error !== undefined);
  // An answer of an unknown form still ends what it answers.
  if (isAnswer && !isObject(result) && !isError(error)) return { jsonrpc: '2.0', id, error: UNREADABLE };
  if (!isAnswer && !(isCall && (hasId || id === undefined))) return undefined;
  return value as unknown as Message;
}

/** Marks an answer that has neither a result nor an error that can be read. */
export const UNREADABLE = { code: -32603, message: 'The server gave an answer that cannot be read.' };

function isError(value: unknown): boolean {
  return isObject(value) && typeof value['code'] === 'number' && typeof value['message'] === 'string';
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Writes a message, and waits while the other side does not read. What nobody can read any more is dropped. */
export async function write(output: Writable, message: Message): Promise<void> {
  if (output.destroyed || output.writableEnded) return;
  if (output.write(`${JSON.stringify(message)}\n`)) return;
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race([once(output, 'drain', { signal }), once(output, 'close', { signal })]).catch(
    () => undefined,
  );
  waiting.abort();
}

export interface Command {
  command: string;
  args?: readonly string[];
  /** What the server is given as its environment, its credentials among it; that of the proxy without `CONSIGLIERE_*` unless given. */
  env?: Record<string, string | undefined>;
}

const isWindows = process.platform === 'win32';
/** How long the server has to end by itself once its input has ended, and again once it was told to end. */
const GRACE_MS = 2_000;

/** Without what is meant for the proxy: the server must not ask in the name of the agent. */
function ownEnvironment(): NonNullable<Command['env']> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CONSIGLIERE_')));
}

/** The MCP server behind the proxy, as a process. */
export class ServerProcess {
  readonly #child: ChildProcess;
  /** Says why it ended, once it has. */
  readonly ended: Promise<string>;
  readonly #killAtExit = () => this.#signal('SIGKILL');

  constructor({ command, args = [], env = ownEnvironment() }: Command) {
    this.#child = spawn(command, args, {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
      // In a group of its own, so that what a launcher such as npx has started ends with it.
      detached: !isWindows,
    });
    process.once('exit', this.#killAtExit);
    // A process that ends closes its input first: an error of writing says no more than that.
    this.input.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      this.#child.once('exit', (code, signal) => resolve(`ended with ${signal ?? `code ${code}`}`));
    });
  }

  get input(): Writable {
    return this.#child.stdin!;
  }

  get output(): Readable {
    return this.#child.stdout!;
  }

  /** Ends it and whatever it has started: by the end of its input, then SIGTERM, then SIGKILL. */
  async end(): Promise<void> {
    this.input.end();
    await this.#endsWithin(GRACE_MS);
    this.#signal('SIGTERM');
    await this.#endsWithin(GRACE_MS);
    this.#signal('SIGKILL');
    process.removeListener('exit', this.#killAtExit);
  }

  async #endsWithin(milliseconds: number): Promise<void> {
    const timer = new AbortController();
    const tooLong = sleep(milliseconds, undefined, timer).catch(() => undefined);
    await Promise.race([this.ended, tooLong]);
    timer.abort();
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      if (isWindows) this.#child.kill(signal);
      else process.kill(-pid, signal);
    } catch {
      // Nothing of it is left.
    }
  }
}
