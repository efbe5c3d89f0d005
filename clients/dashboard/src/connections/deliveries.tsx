import type { DeliverySummary } from '@consigliere/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { admin } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { readAll, useLeft } from '../ui/read-all.js';
import { Time } from '../ui/time.js';
import { wordsOf } from './events.js';
import { type Chosen, SendAgain, verbOf } from './send-again.js';

/** What each state is, and what a person can do about it. */
const STATES: Record<DeliverySummary['status'], string> = {
  pending: 'waits to be sent: it goes out by itself',
  sending: 'being sent now',
  delivered: 'delivered',
  failed: 'the delivery failed, and is tried again by itself',
  dead: 'given up, and sent again since',
};
const LOST = 'lost: fix the receiver, then send it again';

const SHOWS = { all: 'All', lost: 'Lost', waiting: 'Waiting to be sent', delivered: 'Delivered' } as const;
export type Show = keyof typeof SHOWS;
const EMPTY: Record<Show, string> = {
  all: 'Nothing was sent yet. Send a test.',
  lost: 'None is lost: what was sent again stands under All.',
  waiting: 'None waits.',
  delivered: 'None has arrived yet.',
};

/** How a person knows it: what it tells, and when it was sent first. */
function nameOf({ event, about, attempts: [first] }: DeliverySummary): string {
  const words = about === null ? wordsOf(event) : `${wordsOf(event)}: ${about}`;
  return first ? `${words}, ${MOMENT.format(first.at)}` : words;
}
const chosenOf = (delivery: DeliverySummary) => ({
  name: nameOf(delivery),
  eventId: delivery.eventId,
  status: delivery.status,
});
const mapOf = (deliveries: readonly DeliverySummary[]): Chosen =>
  new Map(deliveries.map((one) => [one.deliveryId, chosenOf(one)]));
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** An attempt is being made, or is about to be: the list is read again soon. */
const isUnderWay = ({ status, nextAttemptAt }: DeliverySummary) =>
  status === 'sending' || (nextAttemptAt !== null && nextAttemptAt < Date.now() + 60_000);
/** The waits between its five attempts, after which it is lost. */
const WAITS_MS = [1_000, 10_000, 60_000, 600_000];
const isLastAttempt = ({ attempts }: DeliverySummary) => attempts.length >= WAITS_MS.length;
const lastAttemptAt = ({ attempts, nextAttemptAt }: DeliverySummary) =>
  WAITS_MS.slice(attempts.length).reduce((at, wait) => at + wait, nextAttemptAt ?? Date.now());
const canBeSentAgain = ({ status }: DeliverySummary) => status !== 'pending' && status !== 'sending';

/** What went to a destination, each with its attempts, and the ways to send it again: one, the chosen ones, all that were given up. */
export function Deliveries({
  destinationId,
  name,
  show,
  setShow,
}: {
  destinationId: string;
  name: string;
  show: Show;
  setShow: (show: Show) => void;
}) {
  const [chosen, setChosen] = useState<Chosen>(new Map());
  const [said, say] = useState('');
  const left = useLeft();
  /** Those that are being sent again, in a dialog that stays while the list behind it changes. */
  const [sending, setSending] = useState<Chosen>();
  const list = (of: Show) => (page: { limit: number; cursor?: string }) =>
    admin.deliveries.list(destinationId, { ...page, ...(of !== 'all' && { show: of }) });
  const choose = useMutation({
    mutationFn: async () => {
      const lost = await readAll(list('lost'), left(), say);
      const isLost = lost.rows.length > 0;
      return { isLost, ...(isLost ? lost : await readAll(list('waiting'), left(), say)) };
    },
    onSuccess: ({ isLost, rows: read, isWhole }) => {
      const rows = isLost ? read : read.filter(({ status }) => status === 'failed');
      setChosen(mapOf(rows));
      const last = new Date(Math.max(...rows.map(lastAttemptAt)));
      say(
        rows.length === 0
          ? 'None is lost: what fails is tried again by itself, and is lost after its fifth attempt.'
          : `${isLost ? '' : `None is lost yet: what failed is tried again by itself, for the last time ${MOMENT.format(last)}. `}${rows.length} chosen${isLost ? '' : ', to be tried now'}.${isWhole ? '' : ' There are more: send these first.'}`,
      );
    },
    onError: () => say(''),
  });
  const toggle = (delivery: DeliverySummary, isChosen: boolean) => {
    const next = new Map(chosen);
    if (isChosen) next.set(delivery.deliveryId, chosenOf(delivery));
    else next.delete(delivery.deliveryId);
    setChosen(next);
    say('');
  };
  return (
    <>
      <div className="row">
        <select
          aria-label={`Show deliveries to ${name}`}
          value={show}
          onChange={({ target }) => setShow(target.value as Show)}
        >
          {Object.entries(SHOWS).map(([one, words]) => (
            <option key={one} value={one}>
              {words}
            </option>
          ))}
        </select>
        <button type="button" disabled={choose.isPending} onClick={() => choose.mutate()}>
          Choose all that were lost
        </button>
        <span className="quiet" role="status">
          {said}
        </span>
      </div>
      {choose.error && <Failure error={choose.error} />}
      {sending && (
        <SendAgain
          destinationId={destinationId}
          chosen={sending}
          onSent={(sent) => {
            setChosen(new Map([...chosen].filter(([id]) => !sent.includes(id))));
            say('');
          }}
          close={() => setSending(undefined)}
        />
      )}
      <Listing<DeliverySummary>
        name={`deliveries to ${name}`}
        queryKey={['delivery', destinationId, show]}
        list={list(show)}
        empty={EMPTY[show]}
        isUnderWay={isUnderWay}
      >
        {(delivery) => (
          <Delivery
            key={delivery.deliveryId}
            delivery={delivery}
            isChosen={chosen.has(delivery.deliveryId)}
            onChoose={(isChosen) => toggle(delivery, isChosen)}
            onSend={() => setSending(mapOf([delivery]))}
          />
        )}
      </Listing>
      {chosen.size > 0 && (
        <div className="row chosen">
          <button type="button" className="primary" onClick={() => setSending(chosen)}>
            {verbOf(chosen)}
          </button>
          <button
            type="button"
            onClick={() => {
              setChosen(new Map());
              say('');
            }}
          >
            Choose none
          </button>
        </div>
      )}
    </>
  );
}

function Delivery({
  delivery,
  isChosen,
  onChoose,
  onSend,
}: {
  delivery: DeliverySummary;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
  onSend: () => void;
}) {
  const { deliveryId, event, about, status, attempts, nextAttemptAt, lost, previousDeliveryId } = delivery;
  const [isOpen, setOpen] = useState(false);
  const [isBeforeOpen, setBeforeOpen] = useState(false);
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
      <span className="title">{wordsOf(event).replace(/^./, (first) => first.toUpperCase())}</span>
      {about !== null && <span>{about}</span>}
      <span className="facts">
        <span className={`status ${lost ? 'failed' : status}`}>{lost ? LOST : STATES[status]}</span>
        {last && <Time at={last.at} />}
        {nextAttemptAt !== null && (
          <span>
            {isLastAttempt(delivery) ? 'last' : 'next'} attempt <Time at={nextAttemptAt} />
          </span>
        )}
        <code>{event}</code>
      </span>
      {previousDeliveryId !== null && (
        <details onToggle={({ currentTarget }) => setBeforeOpen(currentTarget.open)}>
          <summary>Sent again: the one before</summary>
          {isBeforeOpen && <Attempts deliveryId={previousDeliveryId} count={0} />}
        </details>
      )}
      {isPressing(delivery) && <SendButton delivery={delivery} onSend={onSend} />}
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          {attempts.length} {attempts.length === 1 ? 'attempt' : 'attempts'}
        </summary>
        {isOpen && <Attempts deliveryId={deliveryId} count={attempts.length} />}
        {isOpen && !isPressing(delivery) && canBeSentAgain(delivery) && (
          <SendButton delivery={delivery} onSend={onSend} />
        )}
      </details>
    </li>
  );
}

/** It has not arrived: what can be done about it is shown at once. */
const isPressing = ({ lost, status }: DeliverySummary) => lost || status === 'failed';

function SendButton({ delivery, onSend }: { delivery: DeliverySummary; onSend: () => void }) {
  const verb = verbOf(mapOf([delivery]));
  return (
    <button
      type="button"
      className={delivery.lost ? 'primary' : undefined}
      aria-label={`${verb}: ${nameOf(delivery)}`}
      onClick={onSend}
    >
      {verb}
    </button>
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
            Each is the same request, with the webhook-id <code>{eventId}</code>. The delivery has the id{' '}
            <code>{deliveryId}</code>.
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
