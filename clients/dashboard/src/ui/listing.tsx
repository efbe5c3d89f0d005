import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loaded, Rows } from './list.js';

interface Page<T> {
  items: T[];
  total: number;
  nextCursor: string | null;
}

interface Given<T> {
  /** Its first word is what entries of the feed make stale. */
  queryKey: readonly [string, ...unknown[]];
  list: (page: { limit: number; cursor?: string }) => PromiseLike<Page<T>>;
  /** Why there are none, and what comes next. */
  empty: string;
  children: (item: T) => ReactNode;
}

/** A list of the service, read page by page. */
export function Listing<T>({ queryKey, list, empty, children }: Given<T>) {
  const pages = useInfiniteQuery({
    queryKey: [...queryKey, 'pages'],
    queryFn: async ({ pageParam }) => list({ limit: 50, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  return (
    <Loaded query={pages}>
      {({ pages: read }) => (
        <>
          <Rows items={read.flatMap(({ items }) => items)} empty={empty}>
            {children}
          </Rows>
          {pages.hasNextPage && (
            <button
              type="button"
              disabled={pages.isFetchingNextPage}
              onClick={() => void pages.fetchNextPage()}
            >
              Show more
            </button>
          )}
        </>
      )}
    </Loaded>
  );
}
