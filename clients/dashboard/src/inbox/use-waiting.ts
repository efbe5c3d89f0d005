import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useMe } from '../me.js';
import { client } from '../session.js';

const MOST_LISTED = 100;

/** What waits for a person. */
export function useWaiting({ isShown = true } = {}) {
  return useQuery({
    queryKey: ['approvals'],
    queryFn: () => client.approvals.list({ limit: MOST_LISTED }),
    enabled: isShown,
  });
}

/** How many wait, for every view. Where the inbox is shown, nothing more is asked for it. */
export function useWaitingCount(): number {
  const isInbox = useLocation().pathname.match(/^\/(approvals\/|$)/) !== null;
  const atFirst = useMe()?.counts.approvals ?? 0;
  const listed = useWaiting({ isShown: false });
  const counted = useQuery({
    queryKey: ['approvals', 'count'],
    queryFn: () => client.approvals.list({ limit: 1 }),
    enabled: !isInbox,
  });
  return (isInbox ? listed : counted).data?.total ?? atFirst;
}
