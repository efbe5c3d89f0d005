import type { DeliverySummary, DestinationView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { admin, client } from '../session.js';
import { Act } from '../ui/act.js';
import { Field, Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';

const EVENTS: Record<DestinationView['events'][number], string> = {
  'approval.requested': 'a person is asked',
  'approval.decided': 'a person has decided',
  'action.completed': 'an agent has carried out what it asked',
  'directive.created': 'work was handed in',
  'directive.executed': 'work was carried out',
  'kill.activated': 'everything was stopped',
  'revenue.recorded': 'revenue was recorded',
  'report.daily': 'the Daily Report was made',
  'pack.installed': 'a skill pack was installed',
  'pack.revoked': 'a skill pack was revoked',
};
const STALE = ['webhook', 'delivery'] as const;

/** Where the service tells other programs what happened, and what became of each delivery. */
export function ConnectionsPage() {
  const me = useMe();
  /** A secret that is shown only now. */
  const [secret, setSecret] = useState<string>();
  if (!me) return <p className="empty">Loading.</p>;
  if (!mayAct(me, 'admin')) {
    return (
      <div className="page">
        <h1>Connections</h1>
        <p className="empty">Connections are made by the role admin. Ask an admin for one.</p>
      </div>
    );
  }
  return (
    <div className="page">
      <h1>Connections</h1>
      <p>
        A webhook tells a program of yours what happened here, as a signed request. What fails is tried again.
      </p>
      {secret !== undefined && (
        <section className="changed" aria-label="Secret">
          <p role="alert">This secret is shown only now. The receiver checks the signature with it.</p>
          <pre className="output">{secret}</pre>
          <button type="button" onClick={() => setSecret(undefined)}>
            I have kept it
          </button>
        </section>
      )}
      <section aria-label="Make a webhook">
        <h2>Make a webhook</h2>
        <Form
          about="webhook"
          verb="Make the webhook"
          act={({ description, url }, data) =>
            client.webhooks.createWithNewSecret({
              description: description!,
              url: url!,
              events: data.getAll('event') as DestinationView['events'],
            })
          }
          stale={STALE}
          onDone={({ secret: made }) => setSecret(made)}
        >
          <Field label="What it is for">
            <input name="description" required maxLength={200} />
          </Field>
          <Field label="Address" hint="https">
            <input
              name="url"
              type="url"
              required
              maxLength={2000}
              placeholder="https://hooks.acme.example/"
            />
          </Field>
          <fieldset>
            <legend>Tells when</legend>
            {Object.entries(EVENTS).map(([event, words]) => (
              <label key={event} className="check">
                <input type="checkbox" name="event" value={event} defaultChecked={event === 'report.daily'} />
                {words}
              </label>
            ))}
          </fieldset>
        </Form>
      </section>
      <section aria-label="Webhooks">
        <h2>Webhooks</h2>
        <Listing<DestinationView>
          queryKey={['webhook']}
          list={(page) => admin.webhooks.list(page)}
          empty="None yet. Make the first one above."
        >
          {(destination) => (
            <Destination key={destination.destinationId} destination={destination} onSecret={setSecret} />
          )}
        </Listing>
      </section>
    </div>
  );
}

const STATES = {
  active: 'active',
  paused: 'paused: it failed too often',
  gone: 'gone: the receiver said so, with 410',
};

function Destination({
  destination,
  onSecret,
}: {
  destination: DestinationView;
  onSecret: (secret: string | undefined) => void;
}) {
  const {
    destinationId: id,
    description,
    url,
    events,
    status,
    lastDeliveryAt,
    consecutiveFailures,
  } = destination;
  const name = description || url;
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <span className="title">{name}</span>
      <span className="facts">
        <code>{url}</code>
        <span className={status === 'active' ? 'count' : 'urgent'}>{STATES[status]}</span>
        {consecutiveFailures > 0 && (
          <span className="urgent">failed {consecutiveFailures} times in a row</span>
        )}
        <span>
          {lastDeliveryAt === null ? (
            'nothing delivered yet'
          ) : (
            <>
              delivered <Time at={lastDeliveryAt} />
            </>
          )}
        </span>
        <span>{events.map((event) => EVENTS[event]).join(', ')}</span>
      </span>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Deliveries to {name}</summary>
        {isOpen && (
          <Listing<DeliverySummary>
            queryKey={['delivery', id]}
            list={(page) => admin.deliveries.list(id, page)}
            empty="Nothing was sent yet. Send a test."
            isUnderWay={({ status: now }) => now !== 'delivered' && now !== 'dead'}
          >
            {(delivery) => <Delivery key={delivery.deliveryId} delivery={delivery} />}
          </Listing>
        )}
      </details>
      <div className="row">
        {status !== 'gone' && (
          <Act
            verb="Send a test"
            of={`to ${name}`}
            effect="A webhook.test goes to this address alone."
            act={() => admin.webhooks.test(id)}
            stale={STALE}
            onDone={() => setOpen(true)}
          />
        )}
        {status === 'paused' && (
          <Act
            verb="Resume"
            of={name}
            effect="What waited goes out."
            act={() => admin.webhooks.resume(id)}
            stale={STALE}
          />
        )}
        {status !== 'gone' && (
          <Act
            verb="Rotate the secret"
            of={`of ${name}`}
            effect="Each request is signed with both secrets for 24 hours, so that the receiver can change over."
            act={({ secret }) => admin.webhooks.rotateSecret(id, secret ? { secret } : {})}
            stale={STALE}
            onDone={({ secret }) => onSecret(secret ?? undefined)}
          >
            <Field label="New secret" hint="left out: one is made and shown">
              <input name="secret" type="password" minLength={16} maxLength={256} autoComplete="off" />
            </Field>
          </Act>
        )}
        <Act
          verb="Delete"
          of={name}
          effect="Nothing goes there any more. What still waits for it is given up."
          isDanger
          act={() => admin.webhooks.delete(id)}
          stale={STALE}
        />
      </div>
    </li>
  );
}

function Delivery({
  delivery: { deliveryId, event, status, attempts, nextAttemptAt },
}: {
  delivery: DeliverySummary;
}) {
  const [isOpen, setOpen] = useState(false);
  const last = attempts.at(-1);
  return (
    <li>
      <span className="title">{event}</span>
      <span className="facts">
        <span className={`status ${status === 'dead' ? 'failed' : status}`}>{status}</span>
        {last && <Time at={last.at} />}
        {nextAttemptAt !== null && (
          <span>
            tried again <Time at={nextAttemptAt} />
          </span>
        )}
        <code>{deliveryId}</code>
      </span>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          {attempts.length} {attempts.length === 1 ? 'attempt' : 'attempts'}
        </summary>
        {isOpen && <Attempts deliveryId={deliveryId} count={attempts.length} />}
      </details>
      {status !== 'pending' && status !== 'sending' && (
        <Act
          verb="Send again"
          of={`${event} ${deliveryId}`}
          effect="The same event goes out once more, as a delivery of its own. The receiver knows it by its id."
          act={() => admin.deliveries.redeliver(deliveryId)}
          stale={STALE}
        />
      )}
    </li>
  );
}

/** Each attempt with what the receiver answered. */
function Attempts({ deliveryId, count }: { deliveryId: string; count: number }) {
  const delivery = useQuery({
    queryKey: ['delivery', 'one', deliveryId, count],
    queryFn: () => admin.deliveries.get(deliveryId),
  });
  return (
    <Loaded query={delivery}>
      {({ attempts }) => (
        <ol>
          {attempts.map(({ n, at, status, durationMs, error, answer }) => (
            <li key={n}>
              <span className="facts">
                <Time at={at} />
                <span>{status === null ? 'no answer' : `answered ${status}`}</span>
                <span>{durationMs} ms</span>
              </span>
              {error !== null && <p className="warning">{error}</p>}
              {answer && <pre className="output">{answer}</pre>}
            </li>
          ))}
        </ol>
      )}
    </Loaded>
  );
}
