import { APIError, type DeliverySummary } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { admin, endsSession } from '../session.js';
import { Act } from '../ui/act.js';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { Loaded } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { patiently, readAll, useLeft } from '../ui/read-all.js';
import { Time } from '../ui/time.js';
import { tellLater } from '../ui/told.js';

const STALE = ['webhook', 'delivery'] as const;

/** By the id of each delivery: how a person knows it. */
type Chosen = ReadonlyMap<string, string>;

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
        <SendMany chosen={chosen} clear={() => setChosen(new Map())} />
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

/** One after the other; what was not sent is named with the reason. */
function SendMany({ chosen, clear }: { chosen: Chosen; clear: () => void }) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [said, say] = useState('');
  const left = useLeft();
  const send = useMutation({
    mutationFn: async () => {
      const signal = left();
      const failed: string[] = [];
      let sent = 0;
      for (const [id, name] of chosen) {
        say(`${sent} of ${chosen.size} sent again so far.`);
        const wait = (seconds: number) =>
          say(`${sent} of ${chosen.size} sent again; too many requests, it goes on in ${seconds} s.`);
        try {
          await patiently(() => admin.deliveries.redeliver(id), wait, signal);
          sent++;
        } catch (error) {
          const isOver = signal.aborted || endsSession(error);
          if (isOver) tellLater(`Stopped: ${sent} of ${chosen.size} deliveries were sent again.`);
          if (isOver || !(error instanceof APIError)) throw error;
          failed.push(`${name}: ${error.message}`);
        }
      }
      return { sent, failed };
    },
    onSettled: () => Promise.all(STALE.map((one) => queries.invalidateQueries({ queryKey: [one] }))),
  });
  const close = () => {
    setOpen(false);
    if (!send.data) return;
    send.reset();
    clear();
  };
  if (chosen.size === 0 && !isOpen) return null;
  const title = `Send ${chosen.size} again`;
  return (
    <>
      <button type="button" className="primary" onClick={() => setOpen(true)}>
        {title}
      </button>
      <button type="button" onClick={clear}>
        Choose none
      </button>
      <Dialog
        title={title}
        description="The same events go out once more, each as a delivery of its own. The receiver knows them by their ids."
        isOpen={isOpen}
        setOpen={close}
      >
        {send.data ? (
          <div role="status">
            <p>
              {send.data.sent} of {chosen.size} sent again.
            </p>
            <ul className="summary">
              {send.data.failed.map((failure) => (
                <li key={failure} className="warning">
                  {failure}
                </li>
              ))}
            </ul>
          </div>
        ) : (
          <>
            <ul className="summary">
              {[...chosen].map(([id, name]) => (
                <li key={id}>{name}</li>
              ))}
            </ul>
            {send.isPending && <p role="status">{said}</p>}
            {send.error && <Failure error={send.error} />}
          </>
        )}
        <div className="row">
          {!send.data && (
            <button type="button" className="primary" disabled={send.isPending} onClick={() => send.mutate()}>
              {title}
            </button>
          )}
          <button type="button" disabled={send.isPending} onClick={close}>
            {send.data ? 'Close' : 'Back'}
          </button>
        </div>
      </Dialog>
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
  const { deliveryId, event, status, attempts, nextAttemptAt } = delivery;
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
      {canBeSentAgain(delivery) && (
        <Act
          verb="Send again"
          of={nameOf(delivery)}
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
