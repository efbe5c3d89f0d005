import { Call, type Answer, type CallOptions } from './call.js';
import {
  APIError,
  ConnectionError,
  errorOf,
  isPassing,
  retryAfterOf,
  TimeoutError,
  unreadable,
  UnreadableAnswer,
} from './errors.js';

/** The version of the API that this package was built for (SPECIFICATION, Versioning). */
export const API_VERSION = '2026-04';

/** Takes what happens to each try of a call; never a header, a body or a query, which may hold secrets. `console` is one. */
export interface Logger {
  /** A try that succeeded. */
  debug(entry: LogEntry, message: string): void;
  /** A try that failed, whether or not another follows. */
  warn(entry: LogEntry, message: string): void;
}

/** One try of a call. */
export interface LogEntry {
  /** The HTTP method. */
  method: string;
  /** Without the query. */
  path: string;
  /** 1 for the first. */
  attempt: number;
  /** How long the try took. */
  milliseconds: number;
  /** The HTTP status, if an answer came. */
  status?: number;
  /** Names the request at the service (CONTRACT, section 1). */
  requestId?: string | null;
  /** Why it failed: the code of the service, or the class of the error. */
  error?: string;
  /** In how many milliseconds the call is tried again; missing where it is not. */
  retryIn?: number;
}

/** What a client is made of. */
export interface ClientOptions {
  /** The token (SPECIFICATION, Authentication), or what answers the one to use now. Without it, `CONSIGLIERE_TOKEN` of the environment. */
  token?: string | (() => string | Promise<string>);
  /** Where the service is. Without it, `CONSIGLIERE_BASE_URL` of the environment, else `http://127.0.0.1:3000`. */
  baseUrl?: string;
  /** How often a call is tried again that failed for a passing cause: 2 unless given. */
  maxRetries?: number;
  /** The longest `Retry-After` that is waited for, in milliseconds: 60,000 unless given. Beyond it the call fails, and the error says how long. */
  maxWait?: number;
  /**
   * How long one try may take, with its body, in milliseconds: 60,000 unless given. What the service is asked to wait (`wait`)
   * comes on top.
   */
  timeout?: number;
  /** Further headers of every call. */
  headers?: Record<string, string>;
  /** Hears of every try. */
  logger?: Logger;
  /** Instead of the platform's own, such as one that goes through a proxy. */
  fetch?: typeof globalThis.fetch;
}

/** A call of `client.request`. */
export interface Request extends CallOptions {
  /** Parameters behind the path; those that are undefined or null are left out. */
  query?: Record<string, unknown>;
  /** Sent as JSON. */
  body?: unknown;
}

const POSITION = 'X-Service-Position';

/** What a timer of the platform can hold; more of it would be nothing at all. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Sends the calls of a client. */
export class Http {
  readonly baseUrl: string;
  readonly #options: ClientOptions;
  readonly #authorization: Authorization;
  /** Where the last of our changes stands: sent with each read, so that a replica that lacks it is not asked. */
  #position = '';

  /** @throws TypeError with an address that is none */
  constructor(options: ClientOptions, authorization: Authorization) {
    const address = options.baseUrl ?? environment('CONSIGLIERE_BASE_URL') ?? 'http://127.0.0.1:3000';
    // A name and password before the host are refused without being quoted.
    if (!/^https?:\/\/[^\s?#@]+$/.test(address)) {
      throw new TypeError('baseUrl must be the address of the service alone, such as http://127.0.0.1:3000.');
    }
    this.baseUrl = address.replace(/\/+$/, '');
    this.#options = options;
    this.#authorization = authorization;
  }

  /** The answer of a call, as data. */
  call<T>(method: string, path: string, request: Request = {}): Call<T> {
    return new Call<T>(this.#answer(method, path, request), (cursor) =>
      this.call<T>(method, path, { ...request, query: { ...request.query, ...cursor } }),
    );
  }

  /** The answer itself, as soon as its headers are there; its body is read by the caller, without a time limit. */
  async open(method: string, path: string, request: Request = {}): Promise<Response> {
    return this.#send(method, path, request, async (response) => response);
  }

  #answer<T>(method: string, path: string, request: Request): Promise<Answer<T>> {
    return this.#send(method, path, request, async (response) => ({
      data: (await bodyOf(response)) as T,
      response,
      requestId: response.headers.get('x-request-id'),
    }));
  }

  async #send<R>(
    method: string,
    path: string,
    request: Request,
    read: (response: Response) => Promise<R>,
  ): Promise<R> {
    const { maxRetries = this.#options.maxRetries ?? 2, signal, query } = request;
    const url = urlOf(this.baseUrl, path, query);
    // Made once: the key of a change stays the same however often it is sent.
    const init = this.#init(method, request);
    const waited = Number(query?.['wait'] ?? 0) * 1_000;
    const timeout = Math.min(MAX_TIMER_MS, (request.timeout ?? this.#options.timeout ?? 60_000) + waited);
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      for (const [name, value] of Object.entries(await this.#authorization())) init.headers.set(name, value);
      const limit = new AbortController();
      const timer = setTimeout(
        () => limit.abort(new TimeoutError(`No complete response within ${timeout} ms.`)),
        timeout,
      );
      const began = performance.now();
      let response: Response | undefined;
      let result: R;
      try {
        response = await (this.#options.fetch ?? fetch)(url, {
          ...init,
          signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
        });
        const position = response.headers.get(POSITION);
        // Positions compare as text; the answers of two changes may come in either order.
        if (position && position > this.#position) this.#position = position;
        if (!response.ok) throw errorOf(response.status, await bodyOf(response, true), response.headers);
        result = await read(response);
      } catch (thrown) {
        if (signal?.aborted) throw signal.reason;
        const error = limit.signal.aborted ? (limit.signal.reason as Error) : lost(thrown, this.baseUrl);
        const retryIn =
          attempt > maxRetries ? undefined : waitOf(error, attempt, response, this.#options.maxWait);
        this.#log('warn', { method, path, attempt, began, response, error, retryIn });
        if (retryIn === undefined) throw error;
        await sleep(retryIn, signal);
        continue;
      } finally {
        clearTimeout(timer);
      }
      this.#log('debug', { method, path, attempt, began, response });
      return result;
    }
  }

  #init(method: string, request: Request): RequestInit & { headers: Headers } {
    const { body, ifMatch, idempotencyKey } = request;
    const headers = new Headers({ Accept: 'application/json', ...this.#options.headers, ...request.headers });
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    if (ifMatch !== undefined) headers.set('If-Match', `"${ifMatch.replace(/^"|"$/g, '')}"`);
    if (method !== 'GET' && method !== 'HEAD') {
      headers.set('Idempotency-Key', idempotencyKey ?? headers.get('Idempotency-Key') ?? crypto.randomUUID());
    }
    headers.set('X-Service-API-Version', API_VERSION);
    if (this.#position && !headers.has(POSITION)) headers.set(POSITION, this.#position);
    // A redirect would take the token to another address.
    return { method, headers, redirect: 'manual', ...(body !== undefined && { body: JSON.stringify(body) }) };
  }

  #log(
    level: 'debug' | 'warn',
    about: {
      method: string;
      path: string;
      attempt: number;
      began: number;
      response: Response | undefined;
      error?: Error;
      retryIn?: number | undefined;
    },
  ): void {
    const { began, response, error, retryIn, ...entry } = about;
    // A caller of `request` may have put the query there.
    entry.path = entry.path.split('?')[0]!;
    this.#options.logger?.[level](
      {
        ...entry,
        milliseconds: Math.round(performance.now() - began),
        ...(response && { status: response.status, requestId: response.headers.get('x-request-id') }),
        // A message may quote what was sent.
        ...(error && { error: error instanceof APIError ? error.code : error.name }),
        ...(retryIn !== undefined && { retryIn: Math.round(retryIn) }),
      },
      `${entry.method} ${entry.path}`,
    );
  }
}

/** The headers that say who calls. */
type Authorization = () => Record<string, string> | Promise<Record<string, string>>;

/** That of a token. @throws TypeError without one */
export function tokenOf({ token = environment('CONSIGLIERE_TOKEN') }: ClientOptions): Authorization {
  const headerOf = (value: string | undefined) => {
    if (!value) throw new TypeError('There is no token: give { token }, or set CONSIGLIERE_TOKEN.');
    // The platform would quote it in its own error.
    if (!/^[\x21-\x7e]+$/.test(value)) throw new TypeError('The token has an invalid character.');
    return { 'x-service-token': value };
  };
  if (typeof token !== 'function') headerOf(token);
  return async () => headerOf(typeof token === 'function' ? await token() : token);
}

function environment(name: string): string | undefined {
  // Not there on every platform.
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}

function urlOf(baseUrl: string, path: string, query: Record<string, unknown> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${baseUrl}${path}${search && `?${search}`}`;
}

/** The body as data, or as text where it is no JSON. @throws UnreadableAnswer for what the service does not send */
async function bodyOf(response: Response, isRefused = false): Promise<unknown> {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  try {
    if (/[/+]json\s*(;|$)/.test(type)) return JSON.parse(text);
  } catch {
    return ofSomethingElse();
  }
  return type.startsWith('text/html') ? ofSomethingElse() : text;

  function ofSomethingElse(): undefined {
    // What is wrong with a refusal is told by its status.
    if (!isRefused) throw unreadable(response.status);
  }
}

/** What fetch throws says little; its cause says what happened. */
function lost(error: unknown, baseUrl: string): Error {
  if (error instanceof APIError || error instanceof UnreadableAnswer) return error;
  const { cause = error } = error as { cause?: { code?: string; message?: string } };
  const { code, message } = cause as { code?: string; message?: string };
  return new ConnectionError(
    `${baseUrl} cannot be reached: ${code ?? message ?? 'the connection was lost'}.`,
    { cause: error },
  );
}

/** How long to wait before a call is tried again, in milliseconds; undefined: it would fail again. */
function waitOf(
  error: unknown,
  attempt: number,
  response: Response | undefined,
  maxWait = 60_000,
): number | undefined {
  if (!isPassing(error)) return undefined;
  const asked = response && retryAfterOf(response.headers);
  if (asked !== null && asked !== undefined) return asked * 1_000 <= maxWait ? asked * 1_000 : undefined;
  return Math.min(8_000, 500 * 2 ** (attempt - 1)) * (0.75 + Math.random() / 4);
}

/** Waits, unless the signal ends it. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(wake, milliseconds);
    signal?.addEventListener('abort', wake);
    function wake(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    }
  });
  signal?.throwIfAborted();
}
