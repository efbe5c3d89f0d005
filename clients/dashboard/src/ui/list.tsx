import { PermissionDeniedError } from '@consigliere/sdk';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.js';

interface Read<T> {
  data: T | undefined;
  error: Error | null;
  refetch: () => unknown;
}

/** What was read, or why it is not there yet. */
export function Loaded<T>({ query, children }: { query: Read<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return children(query.data);
  // What a role may not read is no failure, and trying again changes nothing.
  if (query.error instanceof PermissionDeniedError) return <p className="empty">{query.error.message}</p>;
  if (query.error) return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  return <p className="empty">Loading.</p>;
}

/** Rows, or a sentence on why there are none and what comes next. */
export function Rows<T>({
  items,
  empty,
  children,
}: {
  items: readonly T[];
  empty: string;
  children: (item: T) => ReactNode;
}) {
  if (items.length === 0) return <p className="empty">{empty}</p>;
  return <ul className="rows">{items.map(children)}</ul>;
}

/** How many there are beside those that the service lists. */
export function More({ shown, total = 0 }: { shown: number; total: number | undefined }) {
  return total > shown && <p className="quiet">And {total - shown} more.</p>;
}

interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isStale: boolean;
  data: { pages: readonly unknown[] } | undefined;
  fetchNextPage: () => unknown;
}

/** The way on in a list that is read page by page. */
export function Earlier({ query }: { query: Paged }) {
  if (!query.hasNextPage) return null;
  return (
    <button type="button" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      Show earlier ones
    </button>
  );
}

/** The way back to the newest, where a reader has gone on and something was added since. */
export function Newer({ query, queryKey }: { query: Paged; queryKey: readonly unknown[] }) {
  const queries = useQueryClient();
  if (!query.isStale || (query.data?.pages.length ?? 0) < 2) return null;
  return (
    <button type="button" onClick={() => void queries.resetQueries({ queryKey })}>
      There are newer ones: show them
    </button>
  );
}
