import { RateLimitError } from '@consigliere/sdk';
import { useEffect, useRef } from 'react';
import { endsSession, lock } from '../session.js';
import { tellLater } from './told.js';

interface Page<T> {
  items: readonly T[];
  total: number;
  nextCursor: string | null;
}
export type ListPage<T extends object = object> = (page: {
  limit: number;
  cursor?: string;
}) => PromiseLike<Page<T>>;

/** So many are read at most: twenty requests, which is what some lists answer in a minute. */
export const MOST_ROWS = 2_000;
const PAGE = 100;

/**
 * All that a list has, up to {@link MOST_ROWS}.
 * @param left aborts the reading
 * @param tell is told how far it has come, and that it was stopped
 */
export async function readAll<T extends object>(
  list: ListPage<T>,
  left: AbortSignal,
  tell?: (sentence: string) => void,
) {
  const rows: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await patiently(
      () => list({ limit: PAGE, ...(cursor !== null && { cursor }) }),
      (seconds) => tell?.(`${rows.length} rows read; too many requests, it continues in ${seconds} s.`),
      left,
    ).catch((error: unknown) => {
      if (tell && (left.aborted || endsSession(error)))
        tellLater(`Reading the list was stopped after ${rows.length} rows.`);
      throw error;
    });
    rows.push(...page.items);
    cursor = page.nextCursor;
    tell?.(`${rows.length} of ${Math.max(page.total, rows.length)} rows read.`);
  } while (cursor !== null && rows.length < MOST_ROWS);
  return { rows: rows.slice(0, MOST_ROWS), isWhole: cursor === null };
}

/** Ends with the component: when its page is left, locked or signed out of. */
export function useLeft(): () => AbortSignal {
  const left = useRef(new AbortController());
  useEffect(() => {
    left.current = new AbortController();
    return () => left.current.abort();
  }, []);
  return () => left.current.signal;
}

/** Waits out a refusal for too many requests. @throws the reason of `left` once nobody waits for it any more */
export async function patiently<T>(
  ask: () => PromiseLike<T>,
  onWait: (seconds: number) => void,
  left: AbortSignal,
): Promise<T> {
  for (;;) {
    left.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (endsSession(error)) lock();
      if (!(error instanceof RateLimitError)) throw error;
      const seconds = error.retryAfter ?? 60;
      onWait(seconds);
      await new Promise((again) => {
        setTimeout(again, seconds * 1_000);
        left.addEventListener('abort', again);
      });
    }
  }
}
