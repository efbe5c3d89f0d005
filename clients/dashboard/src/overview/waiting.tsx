import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../session.js';
import { Loaded, Rows } from '../ui/list.js';
import { Time } from '../ui/time.js';

const SHOWN = 5;

/** What waits for a person, the most urgent first, and the way to all of it. */
export function Waiting({ teamId }: { teamId: string | undefined }) {
  const waiting = useQuery({
    queryKey: ['approvals', 'urgent', teamId],
    queryFn: () => client.approvals.list({ limit: SHOWN, ...(teamId && { teamId }) }),
  });
  return (
    <section aria-label="Inbox">
      <h2>Inbox</h2>
      <Loaded query={waiting}>
        {({ items, total }) => (
          <>
            <Rows
              items={items}
              empty="Nothing waits for anybody. Drafts of the capos, the built-in assistants, appear here."
            >
              {({ approvalId, title, risk, urgent, expiresAt }) => (
                <li key={approvalId}>
                  <Link to="/approvals/$approvalId" params={{ approvalId }}>
                    <span className="title">{title}</span>
                    <span className="facts">
                      <span className={`risk ${risk}`}>{risk}</span>
                      {urgent && <span className="urgent">urgent</span>}
                      <span>
                        until <Time at={expiresAt} />
                      </span>
                    </span>
                  </Link>
                </li>
              )}
            </Rows>
            {total > items.length && (
              <p>
                <Link to="/">All {total} in the inbox</Link>
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}
