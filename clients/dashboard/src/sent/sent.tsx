import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Time } from '../ui/time.js';

/** Everything that went out, newest first: to whom, what, and the receipt. */
export function Sent() {
  const sent = useQuery({
    queryKey: ['feed', 'sent'],
    queryFn: () => client.workPackets.list({ status: 'executed', limit: 100 }),
  });
  return (
    <div className="page">
      <h1>What left</h1>
      {sent.error && <Failure error={sent.error} onRetry={() => void sent.refetch()} />}
      {sent.data?.total === 0 && <p className="empty">Nothing has left yet.</p>}
      <ul className="rows">
        {sent.data?.items.map(({ workPacketId, directiveId, title, action, executedAt, receiptId }) => (
          <li key={workPacketId}>
            <Link to="/directives/$directiveId" params={{ directiveId }}>
              <span className="title">{title}</span>
              <span className="facts">
                <span>{action.type}</span>
                {executedAt !== null && <Time at={executedAt} />}
                <code>{receiptId}</code>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
