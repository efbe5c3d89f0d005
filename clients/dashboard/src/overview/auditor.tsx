import { Connectors } from '../connections/connectors.js';
import { client } from '../session.js';
import { Listing } from '../ui/listing.js';
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
  return (
    <section aria-label="Eval runs">
      <h2>Eval runs</h2>
      <Listing
        queryKey={['eval', 'runs', teamId]}
        name="eval runs"
        list={(page) => client.evals.list({ ...page, ...(teamId && { teamId }) })}
        empty="None yet. One runs before a standing order becomes active."
      >
        {({ evalRunId, name, passed, score, threshold, occasion, createdAt }) => (
          <li key={evalRunId}>
            <span className="title">{name}</span>
            <span className="facts">
              <span className={passed ? undefined : 'urgent'}>{passed ? 'passed' : 'failed'}</span>
              <span>
                score {score}, needs {threshold}
              </span>
              <span>at {occasion}</span>
              <Time at={createdAt} />
            </span>
          </li>
        )}
      </Listing>
    </section>
  );
}
