import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { client } from '../session.js';
import { Csv } from '../ui/csv.js';
import { Failure } from '../ui/failure.js';
import { PAGE, Pages } from '../ui/pages.js';
import { Time } from '../ui/time.js';

/** Everything that went out, newest first: to whom, what, and the receipt. */
export function Sent() {
  const search = useSearch({ strict: false });
  const { page = 1 } = search;
  const sent = useQuery({
    queryKey: ['feed', 'sent', page],
    queryFn: () => client.workPackets.list({ status: 'executed', limit: PAGE, offset: (page - 1) * PAGE }),
  });
  const items = sent.data?.items;
  return (
    <div className="page">
      <h1>What left</h1>
      {sent.error && <Failure error={sent.error} onRetry={() => void sent.refetch()} />}
      {items?.length === 0 && <p className="empty">Nothing has left yet.</p>}
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
      {sent.data && <Pages search={search} total={sent.data.total} />}
      <Csv
        name="what left"
        total={sent.data?.total}
        list={(rows) => client.workPackets.list({ status: 'executed', ...rows })}
      />
    </div>
  );
}
