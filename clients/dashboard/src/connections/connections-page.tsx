import type { DestinationView } from '@consigliere/sdk';
import { useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { admin, client } from '../session.js';
import { Act } from '../ui/act.js';
import { Field, Form } from '../ui/form.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { Connectors } from './connectors.js';
import { Deliveries } from './deliveries.js';
import { ModelBudget } from './model-budget.js';

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

/** What connects the service with other programs: webhooks with their deliveries, what it needs itself, models, the partner. */
export function ConnectionsPage() {
  const me = useMe();
  /** A secret that is shown until it is kept, and what is to be known about it. */
  const [secret, setSecret] = useState<{ text: string; note: string }>();
  const showOnce = (text: string | null) =>
    setSecret(
      text === null
        ? undefined
        : { text, note: 'This secret is shown only now. The receiver checks the signature with it.' },
    );
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
          <p role="alert">{secret.note}</p>
          <pre className="output">{secret.text}</pre>
          <button type="button" onClick={() => setSecret(undefined)}>
            I have saved it
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
          onDone={({ secret: made }) => showOnce(made)}
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
            <Destination key={destination.destinationId} destination={destination} onSecret={showOnce} />
          )}
        </Listing>
      </section>
      <Connectors />
      <ModelBudget />
      <PartnerSecret
        onSecret={(text) => setSecret({ text, note: 'The partner persona service signs with this secret.' })}
      />
    </div>
  );
}

/** What the partner persona service signs its updates with. */
function PartnerSecret({ onSecret }: { onSecret: (secret: string) => void }) {
  return (
    <section aria-label="Partner secret">
      <h2>Partner secret</h2>
      <p>The partner persona service signs what it reports with it. That it was shown is recorded.</p>
      <div className="row">
        <Act
          verb="Show"
          of="the partner secret"
          effect="A receipt tells that you have seen it."
          act={() => admin.partnerSecret.get()}
          stale={[]}
          onDone={({ secret }) => onSecret(secret)}
        />
        <Act
          verb="Rotate"
          of="the partner secret"
          effect="A new one is made, or the first. The one before is accepted for 24 hours more."
          act={() => admin.partnerSecret.rotate()}
          stale={[]}
          onDone={({ secret }) => onSecret(secret)}
        />
      </div>
    </section>
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
  onSecret: (secret: string | null) => void;
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
        {isOpen && <Deliveries destinationId={id} name={name} />}
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
            id={id}
            effect="Each request is signed with both secrets for 24 hours, so that the receiver can change over."
            act={({ secret }) => admin.webhooks.rotateSecret(id, secret ? { secret } : {})}
            stale={STALE}
            onDone={({ secret }) => onSecret(secret)}
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
