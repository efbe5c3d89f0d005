import type { DeliverySummary } from '@consigliere/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { admin } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { readAll, useLeft } from '../ui/read-all.js';
import { Time } from '../ui/time.js';
import { type Chosen, SendAgain } from './send-again.js';

/** What each state is, and what a person can do about it. */
const STATES: Record<DeliverySummary['status'], string> = {
  pending: 'waits to be sent: it goes out by itself',
  sending: 'being sent now',
  delivered: 'delivered',
  failed: 'failed, and tried again by itself',
  dead: 'given up: fix the receiver, then send it again',
};

const nameOf = ({ event, deliveryId }: DeliverySummary) => `${event} ${deliveryId}`;

/** An attempt is being made, or is about to be: the list is read again soon. */
const isUnderWay = ({ status, nextAttemptAt }: DeliverySummary) =>
  status === 'sending' || (nextAttemptAt !== null && nextAttemptAt < Date.now() + 60_000);
const canBeSentAgain = ({ status }: DeliverySummary) => status !== 'pending' && status !== 'sending';

/** What went to a destination, each with its attempts, and the ways to send it again: one, the chosen ones, all that were given up. */
export function Deliveries({ destinationId, name }: { destinationId: string; name: string }) {
  const [chosen, setChosen] = useState<Chosen>(new Map());
  const [said, say] = useState('');
  const left = useLeft();
  const list = (page: { limit: number; cursor?: string }) => admin.deliveries.list(destinationId, page);
  const choose = useMutation({
    mutationFn: () => readAll(list, left(), say),
    onSuccess: ({ rows, isWhole }) => {
      const dead = rows.filter(({ status }) => status === 'dead');
      setChosen(new Map(dead.map((one) => [one.deliveryId, nameOf(one)])));
      const among = isWhole ? '' : ` Only the newest ${rows.length} deliveries were looked at.`;
      say(dead.length === 0 ? `None was given up.${among}` : `${dead.length} chosen.${among}`);
    },
    onError: () => say(''),
  });
  const toggle = (delivery: DeliverySummary, isChosen: boolean) => {
    const next = new Map(chosen);
    if (isChosen) next.set(delivery.deliveryId, nameOf(delivery));
    else next.delete(delivery.deliveryId);
    setChosen(next);
  };
  return (
    <>
      <div className="row">
        <button type="button" disabled={choose.isPending} onClick={() => choose.mutate()}>
          Choose all that were given up
        </button>
        {chosen.size > 0 && (
          <>
            <SendAgain
              key={[...chosen.keys()].join(' ')}
              destinationId={destinationId}
              chosen={chosen}
              verb={`Send ${chosen.size} again`}
              onSent={() => setChosen(new Map())}
            />
            <button type="button" onClick={() => setChosen(new Map())}>
              Choose none
            </button>
          </>
        )}
        <span className="quiet" role="status">
          {said}
        </span>
      </div>
      {choose.error && <Failure error={choose.error} />}
      <Listing<DeliverySummary>
        name={`deliveries to ${name}`}
        queryKey={['delivery', destinationId]}
        list={list}
        empty="Nothing was sent yet. Send a test."
        isUnderWay={isUnderWay}
      >
        {(delivery) => (
          <Delivery
            key={delivery.deliveryId}
            delivery={delivery}
            isChosen={chosen.has(delivery.deliveryId)}
            onChoose={(isChosen) => toggle(delivery, isChosen)}
          />
        )}
      </Listing>
    </>
  );
}

function Delivery({
  delivery,
  isChosen,
  onChoose,
}: {
  delivery: DeliverySummary;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
}) {
  const { deliveryId, destinationId, event, status, attempts, nextAttemptAt } = delivery;
  const [isOpen, setOpen] = useState(false);
  const last = attempts.at(-1);
  return (
    <li>
      {canBeSentAgain(delivery) && (
        <label className="check">
          <input
            type="checkbox"
            checked={isChosen}
            onChange={({ target }) => onChoose(target.checked)}
            aria-label={`Choose ${nameOf(delivery)}`}
          />
          Choose
        </label>
      )}
      <span className="title">{event}</span>
      <span className="facts">
        <span className={`status ${status === 'dead' ? 'failed' : status}`}>{STATES[status]}</span>
        {last && <Time at={last.at} />}
        {nextAttemptAt !== null && (
          <span>
            next attempt <Time at={nextAttemptAt} />
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
      {canBeSentAgain(delivery) && (
        <SendAgain
          destinationId={destinationId}
          chosen={new Map([[deliveryId, nameOf(delivery)]])}
          verb="Send again"
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
      {({ attempts, eventId }) => (
        <>
          <p className="quiet">
            Each is the same request, with the webhook-id <code>{eventId}</code>.
          </p>
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
        </>
      )}
    </Loaded>
  );
}
