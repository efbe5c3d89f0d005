import { useQuery } from '@tanstack/react-query';
import { Connectors } from '../connections/connectors.js';
import { client } from '../session.js';
import { Csv } from '../ui/csv.js';
import { Loaded, Rows } from '../ui/list.js';
import { Time } from '../ui/time.js';
import { AuditFeed } from './audit-feed.js';
import { OneReceipt } from './one-receipt.js';

/** The checks: what was tested, whether the connections work, and the receipts of everything. */
export function Auditor({
  teamId,
  receiptId,
}: {
  teamId: string | undefined;
  receiptId: string | undefined;
}) {
  return (
    <>
      {receiptId && <OneReceipt receiptId={receiptId} />}
      <AuditFeed teamId={teamId} />
      <EvalRuns teamId={teamId} />
      <Connectors />
    </>
  );
}

function EvalRuns({ teamId }: { teamId: string | undefined }) {
  const runs = useQuery({
    queryKey: ['eval', 'runs', teamId],
    queryFn: () => client.evals.list({ limit: 50, ...(teamId && { teamId }) }),
  });
  return (
    <section aria-label="Eval runs">
      <h2>Eval runs</h2>
      <Loaded query={runs}>
        {({ items }) => (
          <Rows items={items} empty="None yet. One runs whenever a standing order is to become active.">
            {({ evalRunId, name, passed, score, threshold, occasion, createdAt }) => (
              <li key={evalRunId}>
                <span className="title">{name}</span>
                <span className="facts">
                  <span className={passed ? undefined : 'urgent'}>{passed ? 'passed' : 'did not pass'}</span>
                  <span>
                    score {score}, needs {threshold}
                  </span>
                  <span>at {occasion}</span>
                  <Time at={createdAt} />
                </span>
              </li>
            )}
          </Rows>
        )}
      </Loaded>
      <Csv
        name="eval runs"
        total={runs.data?.total}
        list={(page) => client.evals.list({ ...page, ...(teamId && { teamId }) })}
      />
    </section>
  );
}
