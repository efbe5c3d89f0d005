import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Injectable, type OnModuleDestroy, StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Callers } from '../../platform/auth/callers.js';
import { presentedToken } from '../../platform/auth/presented-token.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { AdmittedRequest } from '../../platform/http/admitted-request.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import {
  Forbidden,
  Unauthorized,
  RateLimited,
  Unavailable,
  ValidationFailed,
} from '../../platform/kernel/errors.js';
import { Readiness } from '../../platform/observability/health.controller.js';
import { type LoggedReceipt, ReceiptLog } from './receipt-log.repository.js';
import { feedItem, CSV_HEADER, csvLine, listedReceipt, nextBefore, receiptItem } from './receipt-view.js';
import { type AuditFeedQuery, type AuditPage, type FeedFormat, MAX_PAGE } from './audit.dto.js';
import { ReceiptChains } from './receipt-chains.repository.js';

/** What one stream may have unsent, besides the socket's own buffer: a page of sentences, about 100 KB. */
const PAGE = 200;
/** Proxies drop a connection that says nothing for a minute, and a reader that is gone is noticed by writing to it. */
const HEARTBEAT_MS = 15_000;
/** A reader that takes none of a page for so long is cut; it resumes with Last-Event-ID. */
const STALLED_MS = 5_000;

/** One reader of the feed: sends what it may see, in order, each receipt once, from `cursor` on. */
export class FeedStream {
  #caller: Caller;
  #cursor = 0;
  #head = 0;
  #sending = false;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(
    caller: Caller,
    /** Asks again who calls, with the token of the request. */
    private readonly identify: () => Promise<Caller>,
    private readonly log: Pick<ReceiptLog, 'listAfter'>,
    private readonly response: ServerResponse,
  ) {
    this.#caller = caller;
  }

  /** Whose stream it is. */
  get memberId(): string {
    return this.#caller.memberId;
  }

  /** Sends the head of the answer; the stream starts behind receipt `cursor`. */
  begin(cursor: number): void {
    this.#cursor = cursor;
    this.response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      // A stream is all its connection will ever carry, so that a draining process does not wait for another request.
      Connection: 'close',
      'X-Accel-Buffering': 'no',
    });
    // With its number alone, so that a reader whose connection breaks before the first receipt comes back to here.
    this.response.write(`retry: 1000\nid: ${cursor}\n\n`);
    this.#heartbeat = setInterval(() => this.beat(), HEARTBEAT_MS);
    this.response.once('close', () => clearInterval(this.#heartbeat));
  }

  /** Sends what stands between the last receipt sent and `head`. Called again meanwhile, it only goes further. */
  async advance(head: number): Promise<void> {
    this.#head = Math.max(this.#head, head);
    if (this.#sending) return;
    this.#sending = true;
    try {
      while (this.#cursor < this.#head && this.isOpen) await this.sendPage(this.#head);
    } catch {
      // The database is away. What was not sent still lies behind the cursor, and the next look finds it.
    } finally {
      this.#sending = false;
    }
  }

  /** Ends the stream once its token is refused or paused; rights that changed hold from the next receipt on. */
  async recheck(): Promise<void> {
    try {
      this.#caller = await this.identify();
    } catch (error) {
      const refused =
        error instanceof DomainError && [Unauthorized.status, Forbidden.status].includes(error.status);
      if (refused) this.end();
    }
  }

  /** Ends the answer in good order, or cuts it when its reader takes nothing. */
  end(): void {
    if (!this.isOpen) return;
    if (this.response.writableNeedDrain) this.response.destroy();
    else this.response.end();
  }

  /** Begun, and neither ended by us nor left by its reader: writing to anything else is an error that nobody awaits. */
  private get isOpen(): boolean {
    const { headersSent, writableEnded, destroyed } = this.response;
    return headersSent && !writableEnded && !destroyed;
  }

  private async sendPage(head: number): Promise<void> {
    const receipts = await this.log.listAfter(scopeOf(this.#caller), this.#cursor, head, PAGE);
    if (!this.isOpen) return;
    const taken = receipts.length === 0 || this.response.write(receipts.map(eventText).join(''));
    this.#cursor = receipts.length < PAGE ? head : receipts.at(-1)!.seq;
    if (!taken) await this.drained();
  }

  /** Waits until the reader has taken what was sent; one that does not is cut rather than buffered for. */
  private async drained(): Promise<void> {
    const stalled = AbortSignal.timeout(STALLED_MS);
    await once(this.response, 'drain', { signal: stalled }).catch(() => this.response.destroy());
  }

  private beat(): void {
    if (this.isOpen && !this.response.writableNeedDrain) this.response.write(':\n\n');
  }
}

/** The WHATWG event stream format; `data` is JSON, which has no line ends of its own. */
function eventText(receipt: LoggedReceipt): string {
  const item = feedItem(receipt);
  return `id: ${item.seq}\nevent: ${item.action}\ndata: ${JSON.stringify(item)}\n\n`;
}

/** What an export holds in memory at a time, a few hundred kilobytes. */
const ROWS_AT_ONCE = 500;

const LOOK_EVERY_MS = 500;

/** In each process. No member can take all that a workspace has. */
const AT_MOST = { workspace: 20, member: 5 };

/** What happened, as pages, as lines and as streams. */
@Injectable()
export class FeedService implements OnModuleDestroy {
  /**
   * The open streams. While anyone in a workspace listens, one look at its head every half second serves all of them; only when
   * it has moved does each read what it may see. The same half second is how often each token is asked about, so that a revoked
   * one is cut within the second of CONTRACT section 5, Tokens.
   */
  readonly #streams = new Map<string, Set<FeedStream>>();

  constructor(
    private readonly log: ReceiptLog,
    private readonly chains: ReceiptChains,
    private readonly callers: Callers,
    private readonly readiness: Readiness,
  ) {
    readiness.closing.addEventListener('abort', () => this.onModuleDestroy(), { once: true });
  }

  /** Answers a page of the audit feed, or a long stretch of it as lines. */
  read(caller: Caller, query: AuditFeedQuery, format: FeedFormat): Promise<AuditPage | StreamableFile> {
    const scope = scopeOf(caller);
    return format === 'json' ? this.page(scope, query) : this.lines(scope, query, format);
  }

  /**
   * Streams to `response` from behind receipt `after`, or from now on, until someone ends it.
   * @throws RateLimited when the member or the workspace has its streams already, Unavailable while the process ends
   */
  async open(request: AdmittedRequest, response: Response, after: number | undefined): Promise<void> {
    const caller = request.caller!;
    const identify = () => this.callers.identify(presentedToken(request));
    const stream = new FeedStream(caller, identify, this.log, response);
    this.admit(caller, stream);
    response.once('close', () => this.release(caller.workspaceId, stream));
    const head = await this.chains.headSeq(caller.workspaceId);
    if (this.readiness.closing.aborted) throw new Unavailable({ reason: 'draining', retryAfterSeconds: 1 });
    if (response.closed) return;
    // A number from the future would wait for it in silence; there is nothing behind it to lose.
    stream.begin(Math.min(after ?? head, head));
    if (request.method === 'HEAD') stream.end();
    await stream.advance(head);
  }

  /** Ends every stream: its clients come back, to a process that stays. */
  onModuleDestroy(): void {
    for (const streams of this.#streams.values()) for (const stream of streams) stream.end();
  }

  private async page(scope: Scope, query: AuditFeedQuery): Promise<AuditPage> {
    const { limit = 20 } = query;
    if (limit > MAX_PAGE) {
      const message = `limit must not be greater than ${MAX_PAGE} as json; jsonl and csv allow more`;
      throw new ValidationFailed({ details: [{ path: 'limit', rule: 'max', message }] });
    }
    const receipts = await this.log.listBefore(scope, query, query.before, limit);
    return { items: receipts.map(listedReceipt), nextBefore: nextBefore(receipts, limit) };
  }

  /** The first rows are read before the answer begins, so that what fails at once is still an error and not a stump. */
  private async lines(scope: Scope, query: AuditFeedQuery, format: 'jsonl' | 'csv'): Promise<StreamableFile> {
    const { limit = 10_000 } = query;
    const first = await this.log.listBefore(scope, query, query.before, Math.min(limit, ROWS_AT_ONCE));
    const chunks = this.chunks(first, scope, query, limit, format);
    return new StreamableFile(Readable.from(chunks, { objectMode: false, highWaterMark: 64 * 1024 }), {
      type:
        format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8',
      disposition: `attachment; filename="audit-feed.${format}"`,
    });
  }

  private async *chunks(
    first: LoggedReceipt[],
    scope: Scope,
    query: AuditFeedQuery,
    limit: number,
    format: 'jsonl' | 'csv',
  ): AsyncGenerator<string> {
    const line =
      format === 'csv' ? csvLine : (item: ReturnType<typeof receiptItem>) => `${JSON.stringify(item)}\n`;
    if (format === 'csv') yield CSV_HEADER;
    let rows = first;
    for (let left = limit; rows.length > 0;) {
      yield rows.map((row) => line(receiptItem(row))).join('');
      left -= rows.length;
      if (left === 0 || rows.length < ROWS_AT_ONCE) return;
      rows = await this.log.listBefore(scope, query, rows.at(-1)!.seq, Math.min(left, ROWS_AT_ONCE));
    }
  }

  private admit({ workspaceId, memberId }: Caller, stream: FeedStream): void {
    const streams = this.#streams.get(workspaceId);
    const own = [...(streams ?? [])].filter((other) => other.memberId === memberId).length;
    if (own >= AT_MOST.member) throw tooManyStreams('member');
    if (streams === undefined) {
      const first = new Set([stream]);
      this.#streams.set(workspaceId, first);
      this.lookSoon(workspaceId, first);
    } else if (streams.size < AT_MOST.workspace) {
      streams.add(stream);
    } else {
      throw tooManyStreams('workspace');
    }
  }

  private release(workspaceId: string, stream: FeedStream): void {
    const streams = this.#streams.get(workspaceId);
    streams?.delete(stream);
    if (streams?.size === 0) this.#streams.delete(workspaceId);
  }

  private lookSoon(workspaceId: string, streams: Set<FeedStream>): void {
    setTimeout(() => void this.look(workspaceId, streams), LOOK_EVERY_MS).unref();
  }

  private async look(workspaceId: string, streams: Set<FeedStream>): Promise<void> {
    // The last of these readers has left; later readers have begun a set of their own.
    if (this.#streams.get(workspaceId) !== streams) return;
    for (const stream of streams) void stream.recheck();
    // While the database is away there is nothing new to be had; the next look follows.
    const head = await this.chains.headSeq(workspaceId).catch(() => 0);
    for (const stream of streams) void stream.advance(head);
    this.lookSoon(workspaceId, streams);
  }
}

function tooManyStreams(whose: keyof typeof AT_MOST) {
  const limit = AT_MOST[whose];
  return new RateLimited({
    message: `A ${whose} may have ${limit} streams open at a time.`,
    retryAfterSeconds: 15,
    details: { policy: `feed-streams-${whose}`, limit, windowSeconds: 0 },
  });
}
