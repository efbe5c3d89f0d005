import { useQuery } from '@tanstack/react-query';
import { client } from '../session.js';

/** How many are open: they could not be done, failed, or run out of time. */
export function useEscalationCount(): number {
  const open = useQuery({
    queryKey: ['escalations', 'count'],
    queryFn: () => client.escalations.list({ status: 'open', limit: 1 }),
  });
  return open.data?.total ?? 0;
}
