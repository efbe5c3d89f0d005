import type { DirectiveSummary } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { mayActSomewhere, useCapoNames, useMe } from '../me.js';
import { client } from '../session.js';
import { Csv } from '../ui/csv.js';
import { Failure } from '../ui/failure.js';
import { PAGE, Pages } from '../ui/pages.js';
import { stateOf } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { HandIn } from './hand-in.js';

const STATUSES = [
  'pending_approval',
  'queued',
  'executing',
  'sending',
  'executed',
  'failed',
  'rejected',
  'expired',
  'cancelled',
  'halted',
  'reverted',
] as const satisfies readonly DirectiveSummary['status'][];

/** What was handed in, newest first, and the place to hand in more. */
export function Directives() {
  const me = useMe();
  const navigate = useNavigate();
  const search = useSearch({ strict: false });
  const status = STATUSES.find((one) => one === search.status);
  const { page = 1 } = search;
  const directives = useQuery({
    queryKey: ['directives', status, page],
    queryFn: () =>
      client.directives.list({ limit: PAGE, offset: (page - 1) * PAGE, ...(status && { status }) }),
  });
  return (
    <div className="page">
      <h1>Directives</h1>
      {mayActSomewhere(me, 'operator') && <HandIn />}
      <label>
        Show
        <select
          value={status ?? ''}
          onChange={({ target: { value } }) =>
            void navigate({ to: '/directives', search: value ? { status: value } : {} })
          }
        >
          <option value="">All</option>
          {STATUSES.map((one) => (
            <option key={one} value={one}>
              {stateOf(one)}
            </option>
          ))}
        </select>
      </label>
      {directives.error && <Failure error={directives.error} onRetry={() => void directives.refetch()} />}
      {directives.data?.total === 0 && (
        <p className="empty">
          {status
            ? 'No directive has this status.'
            : 'Nothing has been handed in yet. Say above what should be done.'}
        </p>
      )}
      <ul className="rows">
        {directives.data?.items.map((directive) => (
          <Row key={directive.directiveId} directive={directive} />
        ))}
      </ul>
      {directives.data && <Pages search={search} total={directives.data.total} />}
      <Csv
        name="directives"
        total={directives.data?.total}
        list={(rows) => client.directives.list({ ...rows, ...(status && { status }) })}
      />
    </div>
  );
}

function Row({ directive }: { directive: DirectiveSummary }) {
  const { directiveId, title, status, capo, createdBy, createdAt, error } = directive;
  const capoName = useCapoNames();
  return (
    <li>
      <Link to="/directives/$directiveId" params={{ directiveId }}>
        <span className="title">{title}</span>
        <span className="facts">
          <span className={`status ${status}`}>{stateOf(status)}</span>
          <span>{capo && capoName(capo)}</span>
          <span>
            {createdBy.name}, <Time at={createdAt} />
          </span>
        </span>
        {error && <span className="warning">{error.message}</span>}
      </Link>
    </li>
  );
}
