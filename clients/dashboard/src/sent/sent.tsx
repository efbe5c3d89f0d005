import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Earlier, Newer } from '../ui/list.js';
import { Time } from '../ui/time.js';

const KEY = ['feed', 'sent'];

/** Everything that went out, newest first: to whom, what, and the receipt. */
export function Sent() {
  const sent = useInfiniteQuery({
    queryKey: KEY,
    queryFn: ({ pageParam }) =>
      client.workPackets.list({ status: 'executed', limit: 100, offset: pageParam }),
    initialPageParam: 0,
    getNextPageParam: ({ offset, items, total }) =>
      offset + items.length < total ? offset + items.length : undefined,
    staleTime: Infinity,
  });
  const items = sent.data?.pages.flatMap((page) => page.items);
  return (
    <div className="page">
      <h1>What left</h1>
      {sent.error && <Failure error={sent.error} onRetry={() => void sent.refetch()} />}
      {items?.length === 0 && <p className="empty">Nothing has left yet.</p>}
      <Newer query={sent} queryKey={KEY} />
      <ul className="rows">
        {items?.map(({ workPacketId, directiveId, title, action, executedAt, receiptId }) => (
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
      <Earlier query={sent} />
    </div>
  );
}
