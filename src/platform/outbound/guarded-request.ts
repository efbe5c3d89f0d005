import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Clock } from '../kernel/clock.js';
import { isPublicUnicast } from './address-rules.js';
import { ConnectionPools } from './connection-pools.js';
import {
  type AllowedDestination,
  checkDestination,
  literalOf,
  refused,
  type RefusedDestination,
} from './destination-rules.js';
import { ExchangeFailed, type Failure, failureOf } from './exchange-failed.js';
import { EXCERPT_READ_BYTES, excerptOf } from './excerpt.js';
import { NameResolver } from './name-resolver.js';
import { OwnAddresses } from './own-addresses.js';
import { parseRetryAfter } from './retry-after.js';

/** Milliseconds for the whole: resolving, connecting, sending, reading (CONTRACT, Webhooks). */
const EXCHANGE_MS = 10_000;
/** Bytes of an answer that are read; then its status counts and the connection is ended. */
const ANSWER_BYTES = 64 * 1024;
/** Statuses whose `Retry-After` counts. */
const WAITING = [429, 503];

export interface OutboundPost {
  url: string;
  /** What is sent besides `Host`, `Connection` and `Content-Length`, and nothing else is. Names are sent as written. */
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
  signal?: AbortSignal;
}

interface Answered {
  kind: 'answered';
  status: number;
  /** Only with 429 and 503. */
  retryAfterSeconds?: number;
  /** The first 2 KiB of the body, as text that can be stored. */
  excerpt: string;
  /** Milliseconds. */
  durationMs: number;
}

interface Failed {
  kind: 'failed';
  error: Failure;
  /** Milliseconds. */
  durationMs: number;
}

export type Answer = Answered | Failed;

/**
 * The one way out to addresses that others chose. Whoever is at the other end, a request takes bounded time and
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

  /**
   * Sends one POST and reads the answer. The address is checked anew and the checked address is the one that is
   * dialled. Redirects are answers like any other, and nothing is unpacked.
   *
   * @throws TypeError a header that cannot be sent; whatever the network does is an {@link Answer}
   */
  async post(request: OutboundPost): Promise<Answer> {
    const started = performance.now();
    const durationMs = () => Math.round(performance.now() - started);
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(new ExchangeFailed('timeout')), EXCHANGE_MS);
    const cancel = () => end.abort(new ExchangeFailed('aborted'));
    request.signal?.addEventListener('abort', cancel);
    if (request.signal?.aborted) cancel();
    try {
      // undici does not hear the signal while it connects.
      const answer = await Promise.race([this.exchange(request, end.signal), abortOf(end.signal)]);
      return { kind: 'answered', ...answer, durationMs: durationMs() };
    } catch (error) {
      return { kind: 'failed', error: failureOf(error), durationMs: durationMs() };
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', cancel);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#pools.destroy();
  }

  private async exchange({ url, headers, body }: OutboundPost, signal: AbortSignal) {
    const destination = this.judge(url);
    if (!destination.ok) throw new ExchangeFailed('destination');
    const addresses = await this.addressesOf(destination);
    if (!addresses) throw new ExchangeFailed('address');
    signal.throwIfAborted();
    const answer = await this.#pools
      .to({
        url: destination.url,
        addresses,
        isAllowed: destination.exempt ? () => true : isPublicUnicast,
      })
      .request({
        method: 'POST',
        path: destination.url.pathname + destination.url.search,
        headers: sendable(headers),
        body,
        signal,
      });
    return {
      status: answer.statusCode,
      ...this.retryAfter(answer.statusCode, answer.headers['retry-after']),
      excerpt: excerptOf(await beginningOf(answer.body)),
    };
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

/** Reads up to {@link ANSWER_BYTES} and keeps the first {@link EXCERPT_READ_BYTES}. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const kept: Buffer[] = [];
  let read = 0;
  for await (const chunk of body) {
    if (read < EXCERPT_READ_BYTES) kept.push(chunk.subarray(0, EXCERPT_READ_BYTES - read));
    read += chunk.length;
    if (read >= ANSWER_BYTES) break; // leaving the loop ends the connection
  }
  return Buffer.concat(kept);
}
