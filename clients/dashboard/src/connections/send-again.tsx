import { APIError, type DeliverySummary } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { admin, endsSession } from '../session.js';
import { Dialog } from '../ui/dialog.js';
import { Failure } from '../ui/failure.js';
import { patiently, useLeft } from '../ui/read-all.js';
import { Time } from '../ui/time.js';
import { tellLater } from '../ui/told.js';

const STALE = ['webhook', 'delivery', 'me'] as const;
const READ_EVERY_MS = 1_000;
/** After so many readings what is still under way is said to be so. */
const MOST_READINGS = 20;
const PAGE = 100;
/** Beside what is sent, so many pages of others that are newer. */
const MOST_OTHER_PAGES = 3;
/** What is due later than this waits for a webhook that is paused. */
const SOON_MS = 60_000;

/** By the id of each delivery: how a person knows it, its event, and how it stood when it was chosen. */
export type Chosen = ReadonlyMap<
  string,
  { name: string; eventId: string; status: DeliverySummary['status'] }
>;

/** What is still tried by itself is tried now; the rest goes out once more. */
export function verbOf(chosen: Chosen): string {
  const isTried = [...chosen.values()].every(({ status }) => status === 'failed');
  if (chosen.size === 1) return isTried ? 'Try now' : 'Send again';
  return isTried ? `Try the ${chosen.size} now` : `Send ${chosen.size} again`;
}

/** Events are sent again in the order in which they happened, which is that of their ids. */
const inOrder = (chosen: Chosen) =>
  [...chosen].toSorted(([, a], [, b]) => (a.eventId < b.eventId ? -1 : Number(a.eventId > b.eventId)));

/** A chosen delivery once the service has been asked: the one that is sent, with the attempts before that, or why there is none. */
interface Asked {
  name: string;
  copyId?: string;
  attempts?: number;
  refusal?: string;
}

/** Sends deliveries again after a question, one after the other, and says what became of each. */
export function SendAgain({
  destinationId,
  chosen,
  onSent,
  close,
}: {
  destinationId: string;
  chosen: Chosen;
  onSent: (deliveryIds: readonly string[]) => void;
  close: () => void;
}) {
  const queries = useQueryClient();
  const verb = verbOf(chosen);
  const [said, say] = useState('');
  /** By the id of each delivery: an error in the middle has none sent twice. */
  const asked = useRef(new Map<string, Asked>());
  const left = useLeft();
  const readAgain = () => Promise.all(STALE.map((one) => queries.invalidateQueries({ queryKey: [one] })));
  const send = useMutation({
    mutationFn: async () => {
      const signal = left();
      for (const [id, { name, status }] of inOrder(chosen)) {
        if (asked.current.has(id)) continue;
        const progress = `${asked.current.size} of ${chosen.size} handed over`;
        say(`${progress}.`);
        const wait = (seconds: number) =>
          say(`${progress}; too many requests, it continues in ${seconds} s.`);
        try {
          const sent = await patiently(
            () => admin.deliveries.redeliver(id, { unlessDelivered: status !== 'delivered' }),
            wait,
            signal,
          );
          asked.current.set(
            id,
            sent.status === 'delivered'
              ? { name, refusal: 'it has arrived already, and was not sent again' }
              : { name, copyId: sent.deliveryId, attempts: sent.attempts.length },
          );
        } catch (error) {
          const isStopped = signal.aborted || endsSession(error);
          if (isStopped)
            tellLater(`Stopped: ${asked.current.size} of ${chosen.size} deliveries were sent again.`);
          if (isStopped || !(error instanceof APIError)) throw error;
          asked.current.set(id, { name, refusal: error.message });
        }
      }
      return [...asked.current.values()];
    },
    onSettled: readAgain,
  });
  const leave = () => {
    close();
    // Those that were handed over before an error are not chosen any more, so that none is sent twice.
    if (asked.current.size > 0) onSent([...asked.current.keys()]);
    void readAgain();
  };
  return (
    <Dialog
      title={verb}
      description="The same event goes out once more; the receiver knows it by its id. What is still tried by itself is tried now instead of later, so that it does not arrive twice."
      isOpen
      setOpen={leave}
    >
      {send.data ? (
        <Outcomes destinationId={destinationId} asked={send.data} />
      ) : (
        <>
          <ul className="summary">
            {inOrder(chosen).map(([id, { name }]) => (
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
            {verb}
          </button>
        )}
        <button type="button" disabled={send.isPending} onClick={leave}>
          {send.data ? 'Close' : 'Back'}
        </button>
      </div>
    </Dialog>
  );
}

/** What became of each, read for a while until nothing more can become of any. */
function Outcomes({ destinationId, asked }: { destinationId: string; asked: readonly Asked[] }) {
  const queries = useQueryClient();
  const ids = asked.flatMap(({ copyId }) => copyId ?? []);
  const copies = useQuery({
    queryKey: ['delivery', destinationId, 'copies', ids],
    queryFn: () => readNewest(destinationId, ids),
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      dataUpdateCount < MOST_READINGS && !isOver(data, ids) ? READ_EVERY_MS : false,
  });
  const count = (kind: Kind) =>
    asked.filter((one) => one.copyId !== undefined && kindOf(copies.data?.get(one.copyId), one) === kind)
      .length;
  const [delivered, failed] = [count('delivered'), count('failed')];
  // No entry of the feed tells of a delivery that arrived: the webhook counts anew.
  useEffect(() => {
    if (delivered + failed > 0) void queries.invalidateQueries({ queryKey: ['webhook'] });
  }, [delivered, failed, queries]);
  const parts = [
    `${delivered} of ${asked.length} delivered`,
    ...(
      [
        ['failed', 'failed again'],
        ['open', 'still under way'],
      ] as const
    ).map(([kind, words]) => count(kind) > 0 && `${count(kind)} ${words}`),
    ids.length < asked.length && `${asked.length - ids.length} not sent`,
  ];
  return (
    <>
      <p role="status">{parts.filter(Boolean).join(', ')}.</p>
      <ul className="summary">
        {asked.map((one, at) => (
          <li key={at}>
            {one.name}: {one.refusal ?? <Outcome copy={copies.data?.get(one.copyId!)} asked={one} />}
          </li>
        ))}
      </ul>
      {copies.error && <Failure error={copies.error} />}
      {!isOver(copies.data, ids) && (
        <p className="quiet">
          You may close this: the list of deliveries goes on showing what becomes of them.
        </p>
      )}
    </>
  );
}

type Kind = 'delivered' | 'failed' | 'open';

function kindOf(copy: DeliverySummary | undefined, { attempts = 0 }: Asked): Kind {
  if (copy?.status === 'delivered') return 'delivered';
  return copy?.status === 'dead' || (copy?.attempts.length ?? 0) > attempts ? 'failed' : 'open';
}

function Outcome({ copy, asked }: { copy: DeliverySummary | undefined; asked: Asked }) {
  const last = copy?.attempts.slice(asked.attempts).at(-1);
  if (copy?.status === 'dead' && !last) return 'given up: the webhook receives nothing any more';
  if (!copy || !last) {
    return (
      <>
        still under way
        {copy?.nextAttemptAt && copy.nextAttemptAt > Date.now() + SOON_MS && (
          <>
            : the webhook is paused, next attempt <Time at={copy.nextAttemptAt} />
          </>
        )}
      </>
    );
  }
  const answer = last.status === null ? `no answer (${last.error})` : `the receiver answered ${last.status}`;
  if (copy.status === 'delivered') return `delivered: ${answer}`;
  if (copy.status === 'dead') return `failed again and given up: ${answer}`;
  return (
    <>
      failed again: {answer}; it is tried again by itself
      {copy.nextAttemptAt && (
        <>
          {' '}
          <Time at={copy.nextAttemptAt} />
        </>
      )}
    </>
  );
}

function isOver(copies: ReadonlyMap<string, DeliverySummary> | undefined, ids: readonly string[]): boolean {
  return ids.every((id) => ['delivered', 'dead'].includes(copies?.get(id)?.status ?? ''));
}

/** What is sent stands among the newest of the list, or a little below: as many pages are read as hold it, and a few more. */
async function readNewest(destinationId: string, ids: readonly string[]) {
  const found = new Map<string, DeliverySummary>();
  let cursor: string | null | undefined;
  for (
    let left = Math.ceil(ids.length / PAGE) + MOST_OTHER_PAGES;
    left > 0 && cursor !== null && found.size < ids.length;
    left--
  ) {
    const page = await admin.deliveries.list(destinationId, { limit: PAGE, ...(cursor && { cursor }) });
    for (const one of page.items) if (ids.includes(one.deliveryId)) found.set(one.deliveryId, one);
    cursor = page.nextCursor;
  }
  return found;
}
