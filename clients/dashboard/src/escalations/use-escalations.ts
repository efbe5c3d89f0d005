import { useQuery } from '@tanstack/react-query';
import { client } from '../session.js';

/** What is open: it could not be done, failed, or runs out of time. */
export function useEscalations() {
  return useQuery({
    queryKey: ['escalations'],
    queryFn: () => client.escalations.list({ status: 'open', limit: 100 }),
  });
}
