import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { Config } from '../config/config.js';
import { PublicAddress } from '../http/public-address.js';
import { Clock } from '../kernel/clock.js';
import { traced } from '../kernel/request-context.js';
import { isPublicUnicast } from './address-rules.js';
import {
  type AllowedDestination,
  checkDestination,
  hostPort,
  literalOf,
  refused,
  type RefusedDestination,
} from './destination-rules.js';
import { EXCERPT_READ_BYTES, excerptOf } from './excerpt.js';
import { ExchangeFailed, type Failure, failureOf } from './exchange-failed.js';
import { NameResolver } from './name-resolver.js';
import { parseRetryAfter } from './retry-after.js';

/** Milliseconds (CONTRACT, Webhooks), TLS included; undici counts in steps of half a second. */
const CONNECT_MS = 3_000;
/** Milliseconds before the next address of a host is tried as well. */
const NEXT_ADDRESS_MS = 500;
/** Addresses of one host that are tried at most. */
const ADDRESSES = 4;
/**
 * Milliseconds without a request after which a connection is closed: enough for a burst, and well below the 5 s after
 * which common servers close, since a request that crosses their closing is lost.
 */
const IDLE_MS = 2_000;
/** Hosts whose connections are kept at once; the one unused for longest goes. */
const POOLS = 256;
const HEADER_BYTES = 16 * 1024;

/** Where to dial. */
interface Dial {
  url: URL;
  /** The addresses of its host that were checked a moment ago; no other is dialled. */
  addresses: readonly string[];
  /** The last look, at the address that the socket is really connected to. */
  isAllowed: (address: string) => boolean;
}

/**
 * Open connections, by origin and by the addresses that were checked. A host that resolves to something else gets
 * other connections, so that an old one never stands in for a new check. In flight there is one request a connection
 * and as many connections as requests, so that a receiver that hangs holds up nobody else.
 */
export class ConnectionPools {
  readonly #pools = new Map<string, Pool>();

  /** The connections for `dial`; use them at once, they may be closed later. */
  to(dial: Dial): Pool {
    const key = [dial.url.origin, ...dial.addresses.toSorted()].join(' ');
    const pool = this.#pools.get(key) ?? newPool(dial);
    this.#pools.delete(key);
    this.#pools.set(key, pool); // the last one used is the last to go
    const [oldest] = this.#pools;
    if (this.#pools.size > POOLS && oldest) {
      this.#pools.delete(oldest[0]);
      void oldest[1].close(); // lets requests in flight end
    }
    return pool;
  }

  /** Ends every connection, and the requests in flight with them. */
  async destroy(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
    this.#pools.clear();
  }
}

const ANY_OR_LOOPBACK = ['0.0.0.0', '[::]', '127.0.0.1', '[::1]', 'localhost'];

/** Where this service is reached: no event goes there, whatever else is allowed. */
@Injectable()
export class OwnAddresses {
  constructor(
    private readonly config: Config,
    private readonly address: PublicAddress,
  ) {}

  /** Each as `host:port`. Asked anew each time, since the port may be known only once the process listens. */
  list(): string[] {
    const { host } = this.config;
    const written = host.includes(':') ? `[${host}]` : host;
    // All of these addresses reach the service, however it listens.
    const hosts = ANY_OR_LOOPBACK.includes(written) ? ANY_OR_LOOPBACK : [written];
    const urls = [this.address.url, ...hosts.map((each) => `http://${each}:${this.address.port}`)];
    return urls.map((url) => hostPort(new URL(url)));
  }
}

/** Milliseconds for the whole: resolving, connecting, sending, reading (CONTRACT, Webhooks). */
const EXCHANGE_MS = 10_000;
/** Bytes of an answer that are read; then its status counts and the connection is ended. */
const ANSWER_BYTES = 64 * 1024;
/** Statuses whose `Retry-After` counts. */
const WAITING = [429, 503];

interface OutboundPost {
  url: string;
  /** What is sent besides `Host`, `Connection` and `Content-Length`, and nothing else is. Names are sent as written. */
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
  signal?: AbortSignal;
}

export type OutboundMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface OutboundRequest extends Omit<OutboundPost, 'body'> {
  method: OutboundMethod;
  body?: string | Uint8Array;
  /** Milliseconds for the whole; 10 s unless said. */
  timeoutMs?: number;
  /** Bytes of the answer that are kept; all that are read unless said. */
  keep?: number;
}

interface Answered {
  kind: 'answered';
  status: number;
  /** Only with 429 and 503. */
  retryAfterSeconds?: number;
  /** Milliseconds. */
  durationMs: number;
}

interface Failed {
  kind: 'failed';
  error: Failure;
  /** Whether the receiver may have got a part of the request, or all of it. */
  mayHaveArrived: boolean;
  /** Milliseconds. */
  durationMs: number;
}

/** An answer with the first 2 KiB of its body, as text that can be stored. */
export type Answer = (Answered & { excerpt: string }) | Failed;

/** An answer with its body, of which at most 64 KiB are read. */
export type WholeAnswer = (Answered & { body: Buffer; isWhole: boolean }) | Failed;

/** Whether a receiver takes a connection. */
type Reached = { kind: 'reached'; durationMs: number } | Omit<Failed, 'mayHaveArrived'>;

/**
 * The one way out to addresses that others chose. A request takes bounded time and
 * memory and reaches public addresses only, unless `OUTBOUND_ALLOW` says otherwise (CONTRACT, Webhooks).
 */
@Injectable()
export class GuardedRequest implements OnApplicationShutdown {
  readonly #pools = new ConnectionPools();

  constructor(
    private readonly config: Config,
    private readonly own: OwnAddresses,
    private readonly resolver: NameResolver,
    private readonly clock: Clock,
  ) {}

  /** Whether `url` may be saved as a destination: its form, and every address that its host resolves to now. */
  async check(url: string): Promise<AllowedDestination | RefusedDestination> {
    const destination = this.judge(url);
    // The operator vouches for an exempt one, which need not be up yet.
    if (!destination.ok || destination.exempt) return destination;
    return (await this.addressesOf(destination)) ? destination : refused('address');
  }

  /** Sends one POST as {@link send} does, and keeps the beginning of the answer. */
  async post(request: OutboundPost): Promise<Answer> {
    const answer = await this.send({ ...request, method: 'POST', keep: EXCERPT_READ_BYTES });
    if (answer.kind === 'failed') return answer;
    const { body, isWhole: _isWhole, ...answered } = answer;
    return { ...answered, excerpt: excerptOf(body) };
  }

  /**
   * Sends one request and reads the answer. The address is checked anew and the checked address is the one that is
   * dialled. Redirects are answers like any other, and nothing is unpacked.
   *
   * @throws TypeError a header that cannot be sent; whatever the network does is an answer
   */
  async send(request: OutboundRequest): Promise<WholeAnswer> {
    let mayHaveArrived = false;
    const onSend = () => {
      mayHaveArrived = true;
    };
    const about = { 'server.address': URL.parse(request.url)?.hostname };
    const done = await traced(request.method, about, (traceparent) => {
      const headers = traceparent === undefined ? request.headers : { ...request.headers, traceparent };
      return within(request, (signal) => this.exchange({ ...request, headers }, signal, onSend));
    });
    return done.kind === 'failed'
      ? { ...done, mayHaveArrived }
      : { kind: 'answered', ...done.result, durationMs: done.durationMs };
  }

  /** Resolves and checks the address as {@link send} does, connects, TLS included, and sends nothing at all. */
  async reach(request: Pick<OutboundRequest, 'url' | 'timeoutMs' | 'signal'>): Promise<Reached> {
    const done = await within(request, async (signal) => {
      const dial = await this.dialOf(request.url);
      signal.throwIfAborted();
      await touch(dial);
    });
    return done.kind === 'failed' ? done : { kind: 'reached', durationMs: done.durationMs };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#pools.destroy();
  }

  private async exchange(
    { method, url, headers, body, keep = ANSWER_BYTES }: OutboundRequest,
    signal: AbortSignal,
    onSend: () => void,
  ) {
    const dial = await this.dialOf(url);
    signal.throwIfAborted();
    const answer = await this.#pools
      .to(dial)
      .compose(noting(onSend))
      .request({
        method,
        path: dial.url.pathname + dial.url.search,
        headers: sendable(headers),
        body: body ?? null,
        signal,
      });
    return {
      status: answer.statusCode,
      ...this.retryAfter(answer.statusCode, answer.headers['retry-after']),
      ...(await beginningOf(answer.body, keep)),
    };
  }

  /** Where to dial for this URL. @throws ExchangeFailed */
  private async dialOf(url: string): Promise<Dial> {
    const destination = this.judge(url);
    if (!destination.ok) throw new ExchangeFailed('destination');
    const addresses = await this.addressesOf(destination);
    if (!addresses) throw new ExchangeFailed('address');
    return { url: destination.url, addresses, isAllowed: destination.exempt ? () => true : isPublicUnicast };
  }

  private judge(url: string): AllowedDestination | RefusedDestination {
    return checkDestination(url, { allow: this.config.outboundAllow, own: this.own.list() });
  }

  /** The addresses to dial; undefined if there is none, or a single one is not allowed. */
  private async addressesOf({ url, exempt }: AllowedDestination): Promise<string[] | undefined> {
    const literal = literalOf(url);
    const addresses = literal === undefined ? await this.resolve(url.hostname, exempt) : [literal];
    if (addresses.length === 0) return undefined;
    return exempt || addresses.every(isPublicUnicast) ? addresses : undefined;
  }

  private resolve(host: string, exempt: boolean): Promise<string[]> {
    const found = exempt ? this.resolver.lookUp(host) : this.resolver.resolve(host);
    return found.catch(() => []);
  }

  private retryAfter(status: number, value: string | string[] | undefined): { retryAfterSeconds?: number } {
    if (!WAITING.includes(status) || typeof value !== 'string') return {};
    const retryAfterSeconds = parseRetryAfter(value, this.clock.now());
    return retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  }
}

/** Opens connections to where {@link Dial} says, and to no other address. */
function connectorTo({ addresses, isAllowed }: Dial): buildConnector.connector {
  const connect = buildConnector({
    timeout: CONNECT_MS,
    allowH2: false,
    // Not to be switched off from the environment.
    rejectUnauthorized: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    // Host, SNI and the name in the certificate stay the URL's; only where to dial is decided here.
    lookup: pinnedTo(addresses.slice(0, ADDRESSES)),
  });
  return (options, done) =>
    connect(options, (...result) => {
      const [, socket] = result;
      if (!socket || isAllowed(socket.remoteAddress ?? '')) return done(...result);
      socket.destroy();
      done(new ExchangeFailed('address'), null);
    });
}

/** Connects, TLS included, and ends the connection without a word. */
function touch(dial: Dial): Promise<void> {
  const { protocol, host, hostname, port } = dial.url;
  const options = { protocol, host, port, hostname: hostname.replace(/^\[(.*)\]$/, '$1') };
  return new Promise((resolve, reject) => {
    connectorTo(dial)(options, (error, socket) => {
      socket?.destroy();
      if (error) reject(error);
      else resolve();
    });
  });
}

function newPool(dial: Dial): Pool {
  return new Pool(dial.url.origin, {
    connect: connectorTo(dial),
    maxHeaderSize: HEADER_BYTES,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    // One signal bounds the whole exchange; these would not stop a slow drip.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** A lookup that knows the answer. */
function pinnedTo(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, _options, done) => done(null, found);
}

/** Does it until its time is over or the caller's signal comes; whatever the network does is a result. */
async function within<T>(
  { timeoutMs = EXCHANGE_MS, signal }: Pick<OutboundRequest, 'timeoutMs' | 'signal'>,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<{ kind: 'done'; result: T; durationMs: number } | Omit<Failed, 'mayHaveArrived'>> {
  const started = performance.now();
  const durationMs = () => Math.round(performance.now() - started);
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(new ExchangeFailed('timeout')), timeoutMs);
  const cancel = () => end.abort(new ExchangeFailed('aborted'));
  signal?.addEventListener('abort', cancel);
  if (signal?.aborted) cancel();
  try {
    // undici does not hear the signal while it connects.
    const result = await Promise.race([act(end.signal), abortOf(end.signal)]);
    return { kind: 'done', result, durationMs: durationMs() };
  } catch (error) {
    return { kind: 'failed', error: failureOf(error), durationMs: durationMs() };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}

/** Rejects with the reason when the signal comes. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
}

/** undici would take a `Host` for the name to ask of the server and to find in its certificate. */
function sendable(headers: OutboundPost['headers']): OutboundPost['headers'] {
  const refusedName = Object.keys(headers).find((name) => /^(host|connection|content-length)$/i.test(name));
  if (refusedName !== undefined) throw new TypeError(`${refusedName} is not for the caller to send`);
  return headers;
}

/** Tells when the first byte of a request is about to be written to a connection; before that nothing can have arrived. */
function noting(onSend: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const start = handler.onRequestStart?.bind(handler);
    handler.onRequestStart = (controller, context) => {
      onSend();
      start?.(controller, context);
    };
    return dispatch(options, handler);
  };
}

/** Reads up to {@link ANSWER_BYTES} and keeps the first `keep` of them. */
async function beginningOf(
  body: AsyncIterable<Buffer>,
  keep: number,
): Promise<{ body: Buffer; isWhole: boolean }> {
  const kept: Buffer[] = [];
  let read = 0;
  for await (const chunk of body) {
    if (read < keep) kept.push(chunk.subarray(0, keep - read));
    read += chunk.length;
    if (read >= ANSWER_BYTES) break; // leaving the loop ends the connection
  }
  return { body: Buffer.concat(kept), isWhole: read <= keep && read < ANSWER_BYTES };
}
