import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Csv } from './csv.js';
import { Loaded, Rows } from './list.js';

interface Page<T> {
  items: T[];
  total: number;
  nextCursor: string | null;
}

interface Given<T> {
  /** What the items are, for the file that they are taken along as; left out: the plural of the first word of the query. */
  name?: string;
  /** Its first word is what entries of the feed make stale. */
  queryKey: readonly [string, ...unknown[]];
  list: (page: { limit: number; cursor?: string }) => PromiseLike<Page<T>>;
  /** As many as are shown at first; left out: a page. */
  first?: number;
  /** Why there are none, and what comes next. */
  empty: string;
  /** Whether something still becomes of an item that no entry of the feed tells: then it is read again while it is looked at. */
  isUnderWay?: (item: T) => boolean;
  children: (item: T) => ReactNode;
}

const AGAIN_MS = 2_000;
const PAGE = 50;

/** A list of the service, read page by page. */
export function Listing<T extends object>({
  queryKey,
  name = `${queryKey[0].replaceAll('_', ' ')}s`,
  list,
  first = PAGE,
  empty,
  isUnderWay,
  children,
}: Given<T>) {
  const pages = useInfiniteQuery({
    queryKey: [...queryKey, 'pages'],
    queryFn: async ({ pageParam }) =>
      list({ limit: pageParam === null ? first : PAGE, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    ...(isUnderWay && {
      refetchInterval: ({ state: { data } }: { state: { data?: { pages: Page<T>[] } | undefined } }) =>
        data?.pages.some(({ items }) => items.some(isUnderWay)) && AGAIN_MS,
    }),
  });
  return (
    <Loaded query={pages}>
      {({ pages: read }) => {
        const items = read.flatMap((page) => page.items);
        const { total } = read.at(-1)!;
        return (
          <>
            <Rows items={items} empty={empty}>
              {children}
            </Rows>
            {pages.hasNextPage && (
              <p className="row">
                <button
                  type="button"
                  disabled={pages.isFetchingNextPage}
                  onClick={() => void pages.fetchNextPage()}
                >
                  Show more
                </button>
                <span className="quiet">
                  {items.length} of {total}
                </span>
              </p>
            )}
            <Csv name={name} total={total} list={list} />
          </>
        );
      }}
    </Loaded>
  );
}
