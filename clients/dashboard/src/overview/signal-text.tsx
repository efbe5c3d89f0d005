import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../session.js';
import { Loaded } from '../ui/list.js';

/** What there is to know about a signal, read when somebody wants to see it. */
export function SignalText({ signalId, title }: { signalId: string; title: string }) {
  const [isOpen, setOpen] = useState(false);
  const signal = useQuery({
    queryKey: ['signal', signalId],
    queryFn: () => client.signals.get(signalId),
    enabled: isOpen,
  });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary aria-label={`Read ${title}`}>Read</summary>
      {isOpen && <Loaded query={signal}>{({ body }) => <p className="output">{body}</p>}</Loaded>}
    </details>
  );
}
