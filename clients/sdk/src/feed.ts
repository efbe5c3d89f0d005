import { APIError } from './errors.js';
import type { FeedItem } from './generated/types.js';
import { type Http, sleep } from './http.js';

export interface StreamOptions {
  /** Begins behind this entry (its `seq`); without it, with what happens from now on. */
  lastEventId?: number;
  signal?: AbortSignal;
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
  const { signal } = options;
  let { lastEventId } = options;
  for (let failures = 0; ; failures++) {
    try {
      const connection = new AbortController();
      const response = await http.open('GET', '/api/pro/feed/stream', {
        signal: signal ? AbortSignal.any([signal, connection.signal]) : connection.signal,
        headers: {
          Accept: 'text/event-stream',
          ...(lastEventId !== undefined && { 'Last-Event-ID': String(lastEventId) }),
        },
      });
      try {
        for await (const data of eventsOf(response, connection)) {
          failures = 0;
          const entry = JSON.parse(data) as FeedEvent;
          lastEventId = entry.seq;
          yield entry;
        }
      } finally {
        connection.abort();
      }
    } catch (error) {
      if (signal?.aborted) return;
      // Refused for good: to come back would be refused again.
      if (error instanceof APIError && error.status < 500 && error.status !== 429) throw error;
    }
    await sleep(Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** failures), signal).catch(() => undefined);
    if (signal?.aborted) return;
  }
}

/** The data of server-sent events; ends where the connection does, or falls silent. */
async function* eventsOf(
  response: Response,
  connection: AbortController,
): AsyncGenerator<string, void, undefined> {
  const reader = response
    .body!.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = '';
  for (;;) {
    const silence = setTimeout(() => connection.abort(), SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop()!;
    for (const block of blocks) {
      const data = block.split(/\r?\n/).flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? []);
      if (data.length > 0) yield data.join('\n');
    }
  }
}
