import type { ActionMethods } from './actions.js';
import type { Call, CallOptions } from './call.js';
import { streamFeed, type FeedEvent, type StreamOptions } from './feed.js';
import { OPERATIONS, type Resources } from './generated/operations.js';
import type { ApprovalView, DirectiveBody, DirectiveView } from './generated/types.js';
import { type ClientOptions, Http, type Request, sleep, tokenOf } from './http.js';

/** How long something may be waited for. */
export interface WaitOptions {
  /** How long to wait at most, in milliseconds; without it as long as it takes. */
  timeout?: number;
  /** Ends the waiting; its reason is what the call is rejected with. */
  signal?: AbortSignal;
}

/** How long a directive may be waited for, and who hears of it meanwhile. */
export interface WaitForDirectiveOptions extends WaitOptions {
  /** Hears of the directive as it is found first, and whenever its status or its approval has changed. */
  onChange?: (directive: DirectiveView) => void;
}

interface DirectiveMethods {
  /**
   * Waits until a directive has ended, whatever people decide in between (`GET /directives/{id}`).
   * Answers it as it stands when the time is over.
   */
  waitFor(directiveId: string, options?: WaitForDirectiveOptions): Promise<DirectiveView>;
  /** Hands in a directive (`POST /directives`) and waits for it as `waitFor` does. */
  createAndWait(body: DirectiveBody, options?: WaitForDirectiveOptions & CallOptions): Promise<DirectiveView>;
}

interface ApprovalMethods {
  /**
   * Waits until an approval is decided, or with `{ for: 'draft' }` until its draft is ready (`GET /approvals/{id}?wait=`).
   * Answers it as it stands when the time is over.
   */
  waitFor(approvalId: string, options?: WaitOptions & { for?: 'decision' | 'draft' }): Promise<ApprovalView>;
}

interface FeedMethods {
  /**
   * What happens, as it happens (`GET /feed/stream`). Comes back after a lost connection behind the last entry that it has seen.
   * Ends without an error when `signal` is aborted.
   * @throws APIError where the service refuses it, for a revoked token, say; UnreadableAnswer where something else answers
   */
  stream(options?: StreamOptions): AsyncGenerator<FeedEvent, void, undefined>;
}

interface Added {
  readonly directives: DirectiveMethods;
  readonly approvals: ApprovalMethods;
  readonly feed: FeedMethods;
  readonly actions: ActionMethods;
}

/** Nothing more becomes of a directive by itself (CONTRACT, section 5, Directive). */
const ENDED = new Set<DirectiveView['status']>([
  'executed',
  'failed',
  'rejected',
  'expired',
  'cancelled',
  'halted',
  'reverted',
]);

/** Seconds that one request waits at most (CONTRACT, section 5, Approval). */
const WAIT_SECONDS = 30;
/** Between two looks at what cannot be waited for; a route takes 60 a minute (CONTRACT, section 3). */
const LOOK_MS = { first: 250, most: 5_000 };

/**
 * A client of Consigliere. Every operation that a token may call is a method: `client.directives.create({ ... })`.
 *
 * ```ts
 * const client = new Consigliere({ token });
 * const { approvalId } = await client.directives.create({ directive: 'Email jane@acme.example: "It ships on Friday."', capo: 'capo_ops' });
 * await client.approvals.approve(approvalId);
 * ```
 */
class Client {
  readonly #http: Http;

  /** @throws TypeError without a token, or with an address that is none */
  constructor(options: ClientOptions = {}) {
    const http = new Http(options, tokenOf(options));
    this.#http = http;
    Object.assign(this, resourcesOf(http, OPERATIONS));
    const client = this as unknown as Consigliere;
    Object.assign(client.directives, directiveMethods(client));
    Object.assign(client.approvals, approvalMethods(client));
    Object.assign(client.feed, { stream: (given?: StreamOptions) => streamFeed(http, given) });
    Object.assign(client.actions, actionMethods(client));
  }

  /** The address of the service. */
  get baseUrl(): string {
    return this.#http.baseUrl;
  }

  /** Calls what has no method yet, such as a route of a newer service: `client.request('GET', '/api/pro/kpi')`. */
  request<T = unknown>(method: string, path: string, request?: Request): Call<T> {
    return this.#http.call<T>(method, path, request);
  }

  /** The same, as an answer whose body is still to be read: an export as NDJSON, say. */
  open(method: string, path: string, request?: Request): Promise<Response> {
    return this.#http.open(method, path, request);
  }
}

/** A client of Consigliere: its resources, such as `client.directives`, and what is added to them here. */
export type Consigliere = Client & Resources & Added;
/** A client of Consigliere: `new Consigliere({ token, baseUrl })`. */
export const Consigliere = Client as unknown as new (options?: ClientOptions) => Consigliere;

/** An object for each resource, with a method for each of its operations. */
export function resourcesOf(http: Http, table: Record<string, Record<string, string>>): object {
  return Object.fromEntries(
    Object.entries(table).map(([resource, operations]) => [
      resource,
      Object.fromEntries(
        Object.entries(operations).map(([name, operation]) => [name, methodOf(http, operation)]),
      ),
    ]),
  );
}

/** A method for an operation: the ids of its path, its body or query if it takes one, and options. */
function methodOf(http: Http, operation: string): (...args: unknown[]) => Call<unknown> {
  const [verb = '', place = '', takes] = operation.split(' ');
  const template = place.startsWith('/') ? place : `/api/pro/${place}`;
  const names = template.match(/\{\w+\}/g) ?? [];
  return (...args) => {
    const path = names.reduce((made, name, at) => made.replace(name, segmentOf(name, args[at])), template);
    const [first, second] = args.slice(names.length) as [unknown, CallOptions?];
    const request: Request = takes
      ? { ...second, [takes === '?' ? 'query' : 'body']: first }
      : { ...(first as CallOptions) };
    return http.call(verb, path, request);
  };
}

/** @throws TypeError for an id that would make another path */
function segmentOf(name: string, id: unknown): string {
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id)) {
    throw new TypeError(`${name.slice(1, -1)} must be an id, and not ${JSON.stringify(id)}`);
  }
  return encodeURIComponent(id);
}

/** What acts is loaded when it is first used: a program of a person never does. */
function actionMethods(client: Consigliere): ActionMethods {
  const run: ActionMethods['run'] = async (tool, params, act, options) =>
    (await import('./actions.js')).run(client, tool, params, act, options);
  return {
    run,
    guard: (tool, act, options) => async (params) => {
      const ran = await run(tool, params, act, typeof options === 'function' ? options(params) : options);
      return ran.isDone ? ran.result : ran.text;
    },
  };
}

function approvalMethods(client: Consigliere): ApprovalMethods {
  return {
    async waitFor(approvalId, { for: awaited = 'decision', ...options } = {}) {
      const isThere = ({ status, ready }: ApprovalView) =>
        status !== 'pending' || (awaited === 'draft' && ready);
      return waitUntil(options, isThere, (wait) =>
        client.approvals.get(approvalId, { wait, for: awaited }, patient(options.signal)),
      );
    },
  };
}

function directiveMethods(client: Consigliere): DirectiveMethods {
  const waitFor: DirectiveMethods['waitFor'] = async (directiveId, { onChange, ...options } = {}) => {
    const { signal } = options;
    let known: DirectiveView | undefined;
    let pause = LOOK_MS.first;
    return waitUntil(
      options,
      ({ status }) => ENDED.has(status),
      async (wait) => {
        // A person's decision is heard of at once.
        if (known?.status === 'pending_approval' && known.approvalId) {
          await client.approvals.get(known.approvalId, { wait, for: 'decision' }, patient(signal));
        } else if (known) {
          await sleep(Math.min(pause, wait * 1_000), signal);
          pause = Math.min(LOOK_MS.most, pause * 2);
        }
        const found = await client.directives.get(directiveId, patient(signal));
        if (found.status !== known?.status || found.approvalId !== known.approvalId) {
          pause = LOOK_MS.first;
          onChange?.(found);
        }
        return (known = found);
      },
    );
  };
  return {
    waitFor,
    async createAndWait(body, { timeout, onChange, ...options } = {}) {
      const { directiveId } = await client.directives.create(body, options);
      return waitFor(directiveId, { timeout, onChange, signal: options.signal });
    },
  };
}

/** What waits for a person outlasts a restart of the service, which takes longer than the retries of other calls. */
export const patient = (signal?: AbortSignal): CallOptions => ({ signal, maxRetries: 6 });

/** Asks again and again, each time waiting at the service for the given seconds, until it is there or the time is over. */
export async function waitUntil<T>(
  { timeout = Infinity, signal }: WaitOptions,
  isThere: (found: T) => boolean,
  ask: (waitSeconds: number) => PromiseLike<T>,
): Promise<T> {
  const until = performance.now() + timeout;
  for (;;) {
    const left = Math.max(0, until - performance.now()) / 1_000;
    const asked = performance.now();
    const wait = Math.min(WAIT_SECONDS, Math.floor(left));
    const found = await ask(wait);
    if (isThere(found) || performance.now() >= until) return found;
    // Below a second the service does not wait, nor while its process ends.
    if (performance.now() - asked < 250) await sleep(Math.min(250, left * 1_000), signal);
  }
}
