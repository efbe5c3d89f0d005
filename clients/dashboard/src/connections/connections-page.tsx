import type { DestinationView, ListedDestination, RotatedDestination } from '@consigliere/sdk';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { admin, client } from '../session.js';
import { Act } from '../ui/act.js';
import { changed, Field, Form } from '../ui/form.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';
import { Connectors } from './connectors.js';
import { Deliveries, type Show } from './deliveries.js';
import { EVENTS } from './events.js';
import { ModelBudget } from './model-budget.js';
import { type Secret, ShownSecret } from './shown-secret.js';

const STALE = ['webhook', 'delivery', 'me'] as const;

/** What connects the service with other programs: webhooks with their deliveries, what it needs itself, models, the partner. */
export function ConnectionsPage() {
  const me = useMe();
  const [secret, setSecret] = useState<Secret>();
  const showOnce = ({ secret: text, description, url }: DestinationView & { secret: string | null }) =>
    setSecret(
      text === null
        ? undefined
        : {
            text,
            of: description || url,
            note: 'This secret is shown only now. Keep it where the receiver finds it, which checks the signature of each request with it.',
          },
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
        A webhook sends what happened here to a program of yours, as a signed request. What fails is tried
        again.
      </p>
      {secret !== undefined && <ShownSecret secret={secret} onKept={() => setSecret(undefined)} />}
      <section aria-label="Webhooks">
        <h2>Webhooks</h2>
        <Listing<ListedDestination>
          queryKey={['webhook']}
          list={(page) => admin.webhooks.list(page)}
          empty="None yet. Make the first one below."
          isUnderWay={isUnderWay}
        >
          {(destination) => (
            <Destination key={destination.destinationId} destination={destination} onSecret={showOnce} />
          )}
        </Listing>
      </section>
      <section aria-label="Make a webhook">
        <h2>Make a webhook</h2>
        <Form
          about="webhook"
          verb="Make the webhook"
          act={({ description, url }, data) =>
            client.webhooks.createWithNewSecret({
              description: description!,
              url: url!,
              events: eventsIn(data),
            })
          }
          stale={STALE}
          says={({ description }) => `The webhook ${description} is made.`}
          onDone={showOnce}
        >
          <WebhookFields />
        </Form>
      </section>
      <Connectors />
      <ModelBudget />
      <PartnerSecret
        onSecret={(text) =>
          setSecret({
            text,
            of: 'the partner',
            note: 'The partner persona service signs with this secret. To read it again, press Show.',
          })
        }
      />
    </div>
  );
}

/** What a webhook is, to be filled in or changed. */
function WebhookFields({ of }: { of?: DestinationView }) {
  return (
    <>
      <Field label="What it is for">
        <input name="description" required maxLength={200} defaultValue={of?.description} />
      </Field>
      <Field label="Address" hint="https; http only if the operator of the server allowed this address">
        <input
          name="url"
          type="url"
          required
          maxLength={2000}
          placeholder="https://hooks.acme.example/"
          defaultValue={of?.url}
        />
      </Field>
      <fieldset>
        <legend>Tells when</legend>
        {Object.entries(EVENTS).map(([event, words]) => (
          <label key={event} className="check">
            <input
              type="checkbox"
              name="event"
              value={event}
              defaultChecked={of?.events.some((one) => one === event) ?? false}
            />
            {words}
          </label>
        ))}
      </fieldset>
    </>
  );
}

/** The events that are ticked. */
const eventsIn = (data: FormData) => data.getAll('event') as DestinationView['events'];

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
          effect="A receipt records that you have seen it."
          act={() => admin.partnerSecret.get()}
          stale={[]}
          says="The partner secret is shown, and a receipt records it."
          onDone={({ secret }) => onSecret(secret)}
        />
        <Act
          verb="Rotate"
          of="the partner secret"
          effect="A new one is made, or the first. The one before is accepted for 24 hours more."
          act={() => admin.partnerSecret.rotate()}
          stale={[]}
          says="The partner secret is replaced: the one before is accepted for 24 hours more."
          onDone={({ secret }) => onSecret(secret)}
        />
      </div>
    </section>
  );
}

/** What each state is, and what a person can do about it. */
const STATES: Record<DestinationView['status'], string> = {
  active: 'active',
  paused:
    'paused: too many deliveries in a row were given up. One is tried each hour; fix the receiver, then resume it',
  gone: 'ended: the receiver answered 410 (gone). Give it another address if the events are still wanted',
};

function Destination({
  destination,
  onSecret,
}: {
  destination: ListedDestination;
  onSecret: (rotated: RotatedDestination) => void;
}) {
  const {
    destinationId: id,
    description,
    url,
    events,
    status,
    lastDeliveryAt,
    deliveries: { lost, waiting, failing, nextAttemptAt },
  } = destination;
  const name = description || url;
  /** The menu leads to what was lost. */
  const leadsToLost = useSearch({ strict: false }).status === 'lost' && lost > 0;
  const [isOpen, setOpen] = useState(leadsToLost);
  const [show, setShow] = useState<Show>(lost > 0 ? 'lost' : 'all');
  return (
    <li>
      <span className="title">{name}</span>
      <span className="facts">
        <code>{url}</code>
        <span className={status === 'active' ? 'count' : 'urgent'}>{STATES[status]}</span>
        {waiting > 0 && (
          <span>
            {failing < waiting && `${inWords(waiting - failing, 'waits', 'wait')} to be sent`}
            {failing > 0 && failing < waiting && ', '}
            {failing > 0 &&
              `${inWords(failing, 'has failed and is', 'have failed and are')} tried again by ${failing === 1 ? 'itself' : 'themselves'}`}
            {nextAttemptAt !== null && (
              <>
                , next at <Time at={nextAttemptAt} />
              </>
            )}
          </span>
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
        <span>sent when {events.map((event) => EVENTS[event]).join(', ')}</span>
      </span>
      {lost > 0 && (
        <p className="warning">
          {inWords(lost, 'was', 'were')} lost: the receiver took {lost === 1 ? 'it' : 'them'} at no attempt.{' '}
          {!(isOpen && show === 'lost') && (
            <button
              type="button"
              aria-label={`Show what was lost to ${name}`}
              onClick={() => {
                setShow('lost');
                setOpen(true);
              }}
            >
              Show what was lost
            </button>
          )}
        </p>
      )}
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Deliveries to {name}</summary>
        {isOpen && <Deliveries destinationId={id} name={name} show={show} setShow={setShow} />}
      </details>
      <div className="row">
        {status !== 'gone' && (
          <Act
            verb="Send a test"
            of={`to ${name}`}
            effect="A webhook.test goes to this address alone."
            act={() => admin.webhooks.test(id)}
            stale={STALE}
            says={`A test is on its way to ${name}: its deliveries show what becomes of it.`}
            onDone={() => {
              setShow('all');
              setOpen(true);
            }}
          />
        )}
        <Act
          verb="Change"
          of={name}
          id={id}
          effect="What is sent from now on goes by what you save here. The secret stays; with another address it begins anew, even where it was paused or ended."
          act={(texts, data) =>
            admin.webhooks.change(id, {
              ...changed(texts, { description, url }),
              ...(String(eventsIn(data)) !== String(inOrder(events)) && { events: eventsIn(data) }),
            })
          }
          stale={STALE}
          says={(now) =>
            `${now.description || now.url} is saved: it goes to ${now.url}, and tells when ${now.events.map((event) => EVENTS[event]).join(', ')}.`
          }
        >
          <WebhookFields of={destination} />
        </Act>
        {status === 'paused' && (
          <Act
            verb="Resume"
            of={name}
            effect="What waited goes out."
            act={() => admin.webhooks.resume(id)}
            stale={STALE}
            says={`${name} is resumed, and what waited goes out.`}
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
            says={`The secret of ${name} is replaced: the one before signs too for 24 hours.`}
            onDone={onSecret}
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
          says={`The webhook ${name} is deleted.`}
        />
      </div>
    </li>
  );
}

/** A delivery to it is being sent, or is about to be: the list is read again soon. */
function isUnderWay({ deliveries: { waiting, nextAttemptAt } }: ListedDestination): boolean {
  return waiting > 0 && (nextAttemptAt ?? 0) < Date.now() + 60_000;
}

function inWords(count: number, one: string, more: string): string {
  return `${count} ${count === 1 ? `delivery ${one}` : `deliveries ${more}`}`;
}

/** In the order of the form. */
function inOrder(events: DestinationView['events']): string[] {
  return Object.keys(EVENTS).filter((event) => events.some((one) => one === event));
}
