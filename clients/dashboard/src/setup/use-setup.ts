import { useQuery } from '@tanstack/react-query';
import { client } from '../session.js';

/** How the service is set up, and which first steps are done. An entry of the feed reads it again. */
export function useSetup() {
  return useQuery({ queryKey: ['setup'], queryFn: () => client.setup.get() });
}
