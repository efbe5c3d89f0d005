import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { Forbidden, Unauthorized } from '../../platform/kernel/errors.js';
import type { LoggedReceipt, ReceiptLog } from './receipt-log.repository.js';
import { feedItem } from './receipt-view.js';

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
