import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../session.js';
import { Loaded } from '../ui/list.js';

/** What a checkpoint keeps, to be put back. */
export function Held({ checkpointId, of }: { checkpointId: string; of: string }) {
  const [isOpen, setOpen] = useState(false);
  const checkpoint = useQuery({
    queryKey: ['checkpoint', checkpointId],
    queryFn: () => client.checkpoints.get(checkpointId),
    enabled: isOpen,
    staleTime: Infinity,
  });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>What {of} keeps</summary>
      {isOpen && (
        <Loaded query={checkpoint}>
          {({ snapshot: { mode, orders, settings } }) => (
            <>
              <p>
                The mode {mode}, {orders.length} standing orders, and these settings:
              </p>
              <pre className="output">{JSON.stringify(settings, null, 2)}</pre>
            </>
          )}
        </Loaded>
      )}
    </details>
  );
}
