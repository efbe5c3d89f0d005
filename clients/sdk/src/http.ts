import { Call, type Answer, type CallOptions } from './call.js';
import {
  APIError,
  ConnectionError,
  errorOf,
  retryAfterOf,
  TimeoutError,
  UnreadableAnswer,
} from './errors.js';

/** The version of the API that this package was built for. */
export const API_VERSION = '2026-04';

/** Takes what happens to each try of a call; never a header, a body or a query, which may hold secrets. */
export interface Logger {
  debug(entry: LogEntry, message: string): void;
  warn(entry: LogEntry, message: string): void;
}

export interface LogEntry {
  method: string;
  path: string;
  /** 1 for the first. */
  attempt: number;
  milliseconds: number;
  status?: number;
  requestId?: string | null;
  /** Why it failed. */
  error?: string;
}

export interface ClientOptions {
  /** The token, or what answers the one to use now. Without it, `CONSIGLIERE_TOKEN` of the environment. */
  token?: string | (() => string | Promise<string>);
  /** Where the service is. Without it, `CONSIGLIERE_BASE_URL` of the environment, else `http://127.0.0.1:3000`. */
  baseUrl?: string;
  /** How often a call is tried again that failed for a passing cause: 2 unless given. */
  maxRetries?: number;
  /** How long one try may take, with its body, in milliseconds: 60,000 unless given. */
  timeout?: number;
  /** Further headers of every call. */
  headers?: Record<string, string>;
  logger?: Logger;
  /** Instead of the platform's own, such as one that goes through a proxy. */
  fetch?: typeof globalThis.fetch;
}

export interface Request extends CallOptions {
  query?: Record<string, unknown>;
  body?: unknown;
}

/** Longer than this no call waits by itself before it is tried again. */
const MAX_WAIT_MS = 30_000;

/** Sends the calls of a client. */
export class Http {
  readonly baseUrl: string;
  readonly #options: ClientOptions;
  readonly #authorization: Authorization;

  /** @throws TypeError with an address that is none */
  constructor(options: ClientOptions, authorization: Authorization) {
    const address = options.baseUrl ?? environment('CONSIGLIERE_BASE_URL') ?? 'http://127.0.0.1:3000';
    if (!/^https?:\/\/[^?#]+$/.test(address)) {
      throw new TypeError(
        `baseUrl must be the address of the service, such as http://127.0.0.1:3000, and not ${address}`,
      );
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
    return this.#send(method, path, request, (response) => Promise.resolve(response));
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
    const { maxRetries = this.#options.maxRetries ?? 2, signal } = request;
    const url = urlOf(this.baseUrl, path, request.query);
    // The same over all tries, so that a change has its effect once.
    const idempotencyKey = request.idempotencyKey ?? crypto.randomUUID();
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const init = this.#init(method, { ...request, idempotencyKey }, await this.#authorization());
      const limit = new AbortController();
      const timeout = request.timeout ?? this.#options.timeout ?? 60_000;
      const timer = setTimeout(
        () => limit.abort(new TimeoutError(`No whole answer within ${timeout} ms.`)),
        timeout,
      );
      const began = performance.now();
      let response: Response | undefined;
      try {
        response = await (this.#options.fetch ?? fetch)(url, {
          ...init,
          signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
        });
        if (!response.ok) throw errorOf(response.status, await bodyOf(response, true), response.headers);
        const result = await read(response);
        this.#log('debug', { method, path, attempt, began, response });
        return result;
      } catch (thrown) {
        if (signal?.aborted) throw signal.reason;
        const error = limit.signal.aborted ? limit.signal.reason : lost(thrown, this.baseUrl);
        this.#log('warn', { method, path, attempt, began, response, error: error as Error });
        const wait = waitOf(error, attempt, response);
        if (attempt > maxRetries || wait === undefined) throw error;
        await sleep(wait, signal);
      } finally {
        clearTimeout(timer);
      }
    }
  }

  #init(
    method: string,
    { body, ifMatch, idempotencyKey, headers }: Request & { idempotencyKey: string },
    authorization: Record<string, string>,
  ): RequestInit {
    const isChange = method !== 'GET' && method !== 'HEAD';
    return {
      method,
      // A redirect would take the token to another address.
      redirect: 'manual',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: {
        Accept: 'application/json',
        'X-Service-API-Version': API_VERSION,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(ifMatch !== undefined && { 'If-Match': `"${ifMatch.replace(/^"|"$/g, '')}"` }),
        ...(isChange && { 'Idempotency-Key': idempotencyKey }),
        ...this.#options.headers,
        ...headers,
        ...authorization,
      },
    };
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
    },
  ): void {
    const { began, response, error, ...entry } = about;
    this.#options.logger?.[level](
      {
        ...entry,
        milliseconds: Math.round(performance.now() - began),
        ...(response && { status: response.status, requestId: response.headers.get('x-request-id') }),
        ...(error && { error: error.message }),
      },
      `${entry.method} ${entry.path}`,
    );
  }
}

/** The headers that say who calls. */
type Authorization = () => Record<string, string> | Promise<Record<string, string>>;

/** That of a token. @throws TypeError without one */
export function tokenOf({ token = environment('CONSIGLIERE_TOKEN') }: ClientOptions): Authorization {
  if (!token) throw new TypeError('There is no token: give { token }, or set CONSIGLIERE_TOKEN.');
  return async () => ({ 'x-service-token': typeof token === 'string' ? token : await token() });
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

async function bodyOf(response: Response, isRefused = false): Promise<unknown> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.includes('json')) {
    if (isRefused || response.headers.get('content-type')?.startsWith('text/html')) throwUnlessRefused();
    return text;
  }
  try {
    return JSON.parse(text);
  } catch {
    return throwUnlessRefused();
  }

  function throwUnlessRefused(): undefined {
    if (!isRefused)
      throw new UnreadableAnswer(`The answer to ${response.url} is none of Consigliere: check baseUrl.`);
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
function waitOf(error: unknown, attempt: number, response: Response | undefined): number | undefined {
  const { status, code } = error as Partial<APIError>;
  const isPassing =
    error instanceof ConnectionError ||
    status === 408 ||
    status === 429 ||
    (status !== undefined && status >= 500) ||
    // A proxy that answers in the place of the service.
    (error instanceof UnreadableAnswer && response !== undefined && response.status >= 500) ||
    code === 'IDEMPOTENCY_IN_PROGRESS';
  if (!isPassing) return undefined;
  const asked = response && retryAfterOf(response.headers);
  if (asked !== null && asked !== undefined) return asked * 1_000 <= MAX_WAIT_MS ? asked * 1_000 : undefined;
  return Math.min(8_000, 500 * 2 ** (attempt - 1)) * (0.75 + Math.random() / 4);
}

/** Waits, unless the signal ends it. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener('abort', ended, { once: true });
    function done(): void {
      signal?.removeEventListener('abort', ended);
      resolve();
    }
    function ended(): void {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    }
  });
}
