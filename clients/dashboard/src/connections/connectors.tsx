import type { ConnectorCheckView, ConnectorView } from '@consigliere/sdk';
import { useState } from 'react';
import { client } from '../session.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';

/** What a person can do about a connector that does not work. */
const HELP: Record<ConnectorView['kind'], string> = {
  database: 'Ask the person who runs the service to check the database: is it running, and is its disk full?',
  queue:
    'Work waits longer than it should. Ask the person who runs the service to check its log or to start another process.',
  mail: 'Check SMTP_URL and MAIL_FROM in .env, then send a test from the page “The service”.',
  model:
    'Check the key and the model name in .env, then test it on the page “The service”. Drafts wait until it works.',
  partner:
    'Check that the partner persona service sends updates and signs them with the current partner secret.',
  webhook: 'Read what the receiver answered in its deliveries, fix the receiver, and send them again.',
  http: 'Check its address and credentials in the connectors file, and that the other side is running.',
};

/** Everything the service depends on: its health, what helps when it fails, and its earlier checks. */
export function Connectors() {
  return (
    <section aria-label="Connectors">
      <h2>Connectors</h2>
      <Listing<ConnectorView>
        name="connectors"
        queryKey={['figures', 'connectors']}
        list={(page) => client.connectors.list(page)}
        empty="No connector is checked."
      >
        {(connector) => <Connector key={connector.connectorId} connector={connector} />}
      </Listing>
    </section>
  );
}

function Connector({ connector }: { connector: ConnectorView }) {
  const { connectorId, name, kind, status, reason, latencyMs, lastCheckedAt, lastOkAt, consecutiveFailures } =
    connector;
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <span className="title">{name}</span>
      <span className="facts">
        <span className={`health ${status}`}>{status}</span>
        <span>{kind}</span>
        {lastCheckedAt !== null && <Time at={lastCheckedAt} />}
        {latencyMs !== null && <span>{latencyMs} ms</span>}
        {consecutiveFailures > 0 && (
          <span className="urgent">failed {consecutiveFailures} times in a row</span>
        )}
        {status !== 'green' && lastOkAt !== null && (
          <span>
            worked last <Time at={lastOkAt} />
          </span>
        )}
      </span>
      {reason}
      {status !== 'green' && lastCheckedAt !== null && <p className="warning">{HELP[kind]}</p>}
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Earlier checks of {name}</summary>
        {isOpen && (
          <Listing<ConnectorCheckView>
            name={`checks of ${name}`}
            queryKey={['figures', 'connector', connectorId]}
            list={(page) => client.connectors.listChecks(connectorId, page)}
            empty="It has not been checked yet."
          >
            {(check) => (
              <li key={check.n}>
                <span className={`health ${check.status}`}>{check.status}</span> <Time at={check.checkedAt} />{' '}
                {check.changed && <strong>changed: </strong>}
                {check.reason}
              </li>
            )}
          </Listing>
        )}
      </details>
    </li>
  );
}
