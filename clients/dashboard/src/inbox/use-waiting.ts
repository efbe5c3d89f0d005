import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useMe } from '../me.js';
import { client } from '../session.js';

export const PAGE = 100;
/** Where the inbox is kept: what is decided is taken out of it. */
export const INBOX = ['approvals', 'pages'] as const;

/** What waits for a person, page by page. */
export function useWaiting({ isShown = true } = {}) {
  return useInfiniteQuery({
    queryKey: INBOX,
    queryFn: async ({ pageParam }) =>
      client.approvals.list({ limit: PAGE, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    enabled: isShown,
    // The stream tells when it is stale. Where later pages are open, it is then offered to be read again.
    staleTime: Infinity,
  });
}

/** How many wait, for every view. Where all of them are shown, nothing more is asked for it. */
export function useWaitingCount(): number {
  const isInbox = useLocation().pathname.match(/^\/(approvals\/|$)/) !== null;
  const atFirst = useMe()?.counts.approvals ?? 0;
  const { data, hasNextPage } = useWaiting({ isShown: false });
  const isWhole = isInbox && data?.pages.length === 1 && !hasNextPage;
  const counted = useQuery({
    queryKey: ['approvals', 'count'],
    queryFn: () => client.approvals.list({ limit: 1 }),
    enabled: !isWhole && (!isInbox || data !== undefined),
  });
  return isWhole ? data.pages[0]!.items.length : (counted.data?.total ?? atFirst);
}
