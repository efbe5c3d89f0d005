import type { SentItem } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { client } from '../session.js';
import { Csv } from '../ui/csv.js';
import { Loaded, Rows } from '../ui/list.js';
import { PAGE, Pages } from '../ui/pages.js';
import { ReceiptLink } from '../ui/receipt-link.js';
import { Time } from '../ui/time.js';

/** Everything that went out, newest first: to whom, what, who approved or allowed it, and the receipt. */
export function Sent() {
  const search = useSearch({ strict: false });
  const { page = 1, order: standingOrderId } = search;
  const only = standingOrderId !== undefined && { standingOrderId };
  const sent = useQuery({
    queryKey: ['sent', standingOrderId, page],
    queryFn: () => client.auditFeed.listSent({ ...only, limit: PAGE, offset: (page - 1) * PAGE }),
  });
  return (
    <div className="page">
      <h1>Sent and done</h1>
      {standingOrderId !== undefined && (
        <p>
          Only what{' '}
          <Link to="/orders/$standingOrderId" params={{ standingOrderId }}>
            one standing order
          </Link>{' '}
          let through without a person in the last 30 days. <Link to="/sent">Show everything</Link>
        </p>
      )}
      <Loaded query={sent}>
        {({ items, total }) => (
          <>
            <Rows
              items={items}
              empty="Nothing has been sent or done yet. An approved draft appears here once it is."
            >
              {(item) => <Item key={item.receiptId} item={item} />}
            </Rows>
            <Pages search={search} total={total} />
            <Csv
              name="sent and done"
              total={total}
              list={(rows) => client.auditFeed.listSent({ ...only, ...rows })}
            />
          </>
        )}
      </Loaded>
    </div>
  );
}

function Item({ item }: { item: SentItem }) {
  const { directiveId, approvalId, title, type, target, transport, agent, at, receiptId } = item;
  return (
    <li>
      <span className="title">
        {directiveId !== null ? (
          <Link to="/directives/$directiveId" params={{ directiveId }}>
            {title}
          </Link>
        ) : approvalId !== null ? (
          <Link to="/approvals/$approvalId" params={{ approvalId }}>
            {title}
          </Link>
        ) : (
          title
        )}
      </span>
      {transport === 'file' && (
        <p className="warning">
          Only written to a file, since no mail server is configured. Nobody has received it.
        </p>
      )}
      <span className="facts">
        <span>{type}</span>
        {target !== null && !title.includes(target) && <span>to {target}</span>}
        {agent !== null && <span>by the agent {agent}</span>}
        <Allowed item={item} />
        <Time at={at} />
        <ReceiptLink id={receiptId} />
      </span>
    </li>
  );
}

/** The people who approved it, the standing orders that allowed it, or that nobody was asked. */
export function Allowed({ item: { approvalId, approvedBy, allowedBy } }: { item: SentItem }) {
  if (approvalId !== null) {
    return (
      <Link to="/approvals/$approvalId" params={{ approvalId }}>
        approved by {approvedBy.join(', ')}
      </Link>
    );
  }
  if (allowedBy.length === 0) return <span>nobody was asked</span>;
  return (
    <span>
      allowed by{' '}
      {allowedBy.map(({ standingOrderId, name }, at) => (
        <span key={standingOrderId}>
          {at > 0 && ', '}
          <Link to="/orders/$standingOrderId" params={{ standingOrderId }}>
            {name}
          </Link>
        </span>
      ))}
    </span>
  );
}
