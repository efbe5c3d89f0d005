import type { DirectiveSummary } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { mayActSomewhere, useMe } from '../me.js';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Time } from '../ui/time.js';
import { HandIn } from './hand-in.js';

/** What was handed in, newest first, and the place to hand in more. */
export function Directives() {
  const me = useMe();
  const directives = useQuery({
    queryKey: ['directives'],
    queryFn: () => client.directives.list({ limit: 50 }),
  });
  return (
    <div className="page">
      <h1>Directives</h1>
      {mayActSomewhere(me, 'operator') && <HandIn />}
      {directives.error && <Failure error={directives.error} onRetry={() => void directives.refetch()} />}
      {directives.data?.total === 0 && (
        <p className="empty">Nothing has been handed in yet. Say above what should be done.</p>
      )}
      <ul className="rows">
        {directives.data?.items.map((directive) => (
          <Row key={directive.directiveId} directive={directive} />
        ))}
      </ul>
    </div>
  );
}

function Row({ directive }: { directive: DirectiveSummary }) {
  const { directiveId, title, status, capo, createdBy, createdAt, error } = directive;
  return (
    <li>
      <Link to="/directives/$directiveId" params={{ directiveId }}>
        <span className="title">{title}</span>
        <span className="facts">
          <span className={`status ${status}`}>{status.replaceAll('_', ' ')}</span>
          <span>{capo}</span>
          <span>
            {createdBy.name}, <Time at={createdAt} />
          </span>
        </span>
        {error && <span className="warning">{error.message}</span>}
      </Link>
    </li>
  );
}
