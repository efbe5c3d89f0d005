import { ConsigliereError, isPassing, type RateLimitError, unreadable } from './errors.js';
import type { FeedItem } from './generated/types.js';
import { type Http, sleep } from './http.js';

/** Where a stream begins and what ends it. */
export interface StreamOptions {
  /** Begins behind this entry (its `seq`); without it, with what happens from now on. */
  lastEventId?: number;
  /** Ends it. */
  signal?: AbortSignal;
  /** Hears that the connection stands, at first and after each loss, and behind which entry it goes on. */
  onOpen?: (lastEventId: number) => void;
  /** Hears that the connection is lost; the stream comes back by itself. */
  onLost?: () => void;
}

/** An entry of the feed. */
export type FeedEvent = FeedItem;

/** Without a sign of life for so long the connection is taken for lost; the service gives one every 15 seconds. */
const SILENCE_MS = 45_000;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/** See `client.feed.stream`. */
export async function* streamFeed(
  http: Http,
  options: StreamOptions = {},
): AsyncGenerator<FeedEvent, void, undefined> {
  const { signal, onOpen, onLost } = options;
  let { lastEventId } = options;
  /** Undefined: it never was. */
  let isOpen: boolean | undefined;
  for (let failures = 0; ; failures++) {
    let pause = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** failures);
    try {
      const connection = new AbortController();
      const response = await http.open('GET', '/api/pro/feed/stream', {
        signal: signal ? AbortSignal.any([signal, connection.signal]) : connection.signal,
        headers: {
          Accept: 'text/event-stream',
          ...(lastEventId !== undefined && { 'Last-Event-ID': String(lastEventId) }),
        },
      });
      isOpen = true;
      try {
        for await (const { id, data } of eventsOf(response, connection)) {
          failures = 0;
          const isNew = !(Number(id) <= lastEventId!);
          if (id !== undefined) lastEventId = Number(id);
          if (data === undefined && id !== undefined) onOpen?.(Number(id));
          // The first names where the stream begins, and has no data.
          if (data !== undefined && isNew) yield entryIn(data, response);
          // Several entries may have come at once.
          if (signal?.aborted) return;
        }
      } finally {
        connection.abort();
      }
    } catch (error) {
      if (signal?.aborted) return;
      // Never there, or refused for good: to come back would be refused again.
      if (isOpen === undefined || (error instanceof ConsigliereError && !isPassing(error))) throw error;
      pause = ((error as RateLimitError).retryAfter ?? 0) * 1_000 || pause;
    }
    if (isOpen) onLost?.();
    isOpen = false;
    await sleep(pause, signal).catch(() => undefined);
    if (signal?.aborted) return;
  }
}

/** Server-sent events; ends where the connection does, or falls silent. */
async function* eventsOf(
  response: Response,
  connection: AbortController,
): AsyncGenerator<{ id?: string; data?: string }, void, undefined> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    throw unreadable(response.status);
  }
  const reader = response
    .body!.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = '';
  for (;;) {
    const silence = setTimeout(() => connection.abort(), SILENCE_MS);
    const { done, value: text } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const fields = [...block.matchAll(/^(id|data): ?(.*)$/gm)];
      yield Object.fromEntries(fields.map(([, name, value]) => [name, value]));
    }
  }
}

function entryIn(data: string, response: Response): FeedEvent {
  try {
    return JSON.parse(data) as FeedEvent;
  } catch {
    throw unreadable(response.status);
  }
}
