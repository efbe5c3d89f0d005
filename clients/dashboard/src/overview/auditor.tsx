import type { ConnectorView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../session.js';
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
    queryKey: ['feed', 'evals', teamId],
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
    </section>
  );
}

function Connectors() {
  const connectors = useQuery({
    queryKey: ['feed', 'connectors'],
    queryFn: () => client.connectors.list({ limit: 100 }),
  });
  return (
    <section aria-label="Connectors">
      <h2>Connectors</h2>
      <Loaded query={connectors}>
        {({ items }) => (
          <Rows items={items} empty="No connector is checked.">
            {(connector) => <Connector key={connector.connectorId} connector={connector} />}
          </Rows>
        )}
      </Loaded>
    </section>
  );
}

function Connector({ connector }: { connector: ConnectorView }) {
  const { connectorId, name, kind, status, reason, lastCheckedAt } = connector;
  const [isOpen, setOpen] = useState(false);
  const checks = useQuery({
    queryKey: ['feed', 'connector', connectorId],
    queryFn: () => client.connectors.listChecks(connectorId, { limit: 20 }),
    enabled: isOpen,
  });
  return (
    <li>
      <span className="title">{name}</span>
      <span className="facts">
        <span className={`health ${status}`}>{status}</span>
        <span>{kind}</span>
        {lastCheckedAt !== null && <Time at={lastCheckedAt} />}
      </span>
      {reason}
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Earlier checks of {name}</summary>
        {isOpen && (
          <Loaded query={checks}>
            {({ items }) => (
              <Rows items={items} empty="It has not been checked yet.">
                {(check) => (
                  <li key={check.n}>
                    <span className={`health ${check.status}`}>{check.status}</span>{' '}
                    <Time at={check.checkedAt} /> {check.reason}
                  </li>
                )}
              </Rows>
            )}
          </Loaded>
        )}
      </details>
    </li>
  );
}
