import type { SignalSummary } from '@consigliere/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { mayAct, useCapoNames, useMe } from '../me.js';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import { Loaded, More, Rows } from '../ui/list.js';
import { Listing } from '../ui/listing.js';
import { stateOf } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { SignalText } from './signal-text.js';

/** The work: what is being done, what was noticed, and who the buyers are. */
export function Capo({ teamId }: { teamId: string | undefined }) {
  return (
    <>
      <Signals teamId={teamId} />
      <Packets teamId={teamId} />
      <Context />
    </>
  );
}

function Signals({ teamId }: { teamId: string | undefined }) {
  return (
    <section aria-label="Signals">
      <h2>Signals</h2>
      <Listing
        queryKey={['signal', 'open', teamId]}
        name="signals"
        list={(page) => client.signals.list({ status: 'open', ...page, ...(teamId && { teamId }) })}
        empty="No open signals. What goes wrong or changes appears here."
      >
        {(signal) => <Signal key={signal.signalId} signal={signal} />}
      </Listing>
    </section>
  );
}

function Signal({
  signal: { signalId, severity, title, source, createdAt, teamId },
}: {
  signal: SignalSummary;
}) {
  const queries = useQueryClient();
  const me = useMe();
  const acknowledge = useMutation({
    mutationFn: () => client.signals.acknowledge({ signalId }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['signal'] }),
  });
  return (
    <li>
      <span className="title">{title}</span>
      <span className="facts">
        <span className={`severity ${severity}`}>{severity}</span>
        <span>{source.name}</span>
        <Time at={createdAt} />
      </span>
      <SignalText signalId={signalId} title={title} />
      {acknowledge.error && <Failure error={acknowledge.error} />}
      {mayAct(me, 'operator', teamId) && (
        <button
          type="button"
          aria-label={`Acknowledge ${title}`}
          disabled={acknowledge.isPending}
          onClick={() => acknowledge.mutate()}
        >
          Acknowledge
        </button>
      )}
    </li>
  );
}

function Packets({ teamId }: { teamId: string | undefined }) {
  const capoName = useCapoNames();
  return (
    <section aria-label="Work packets">
      <h2>Work packets of {teamId ? 'the team' : 'all your teams'}</h2>
      <Listing
        queryKey={['directives', 'packets', teamId]}
        name="work packets"
        list={(page) => client.workPackets.list({ ...page, ...(teamId && { teamId }) })}
        empty="No work yet. Hand in a directive to begin."
      >
        {({ workPacketId, directiveId, title, status, capo, createdAt }) => (
          <li key={workPacketId}>
            <Link to="/directives/$directiveId" params={{ directiveId }}>
              <span className="title">{title}</span>
              <span className="facts">
                <span className={`status ${status}`}>{stateOf(status)}</span>
                <span>{capoName(capo)}</span>
                <Time at={createdAt} />
              </span>
            </Link>
          </li>
        )}
      </Listing>
    </section>
  );
}

function Context() {
  const context = useQuery({ queryKey: ['context'], queryFn: () => client.context.get() });
  return (
    <section aria-label="Buyers">
      <h2>Buyers</h2>
      <Loaded query={context}>
        {({ buyerContext, partner }) => (
          <>
            {partner.avatar && (
              <p>
                Stage of all buyers together: {partner.avatar.stage ?? 'unknown'}
                {partner.avatar.weakest && `, weakest in ${wordsOf(partner.avatar.weakest)}`}.
              </p>
            )}
            <Rows
              items={buyerContext.profiles}
              empty="The partner persona service has reported no buyer yet."
            >
              {({ buyerId, segment, stage, confidence, topGap, updatedAt }) => (
                <li key={buyerId}>
                  <span className="title">{buyerId}</span>
                  <span className="facts">
                    {segment && <span>{segment}</span>}
                    {stage && <span>{stage}</span>}
                    {confidence !== null && <span>{Math.round(confidence * 100)} % confident</span>}
                    {topGap && <span>weakest in {wordsOf(topGap)}</span>}
                    <Time at={updatedAt} />
                  </span>
                </li>
              )}
            </Rows>
            <More shown={buyerContext.profiles.length} total={buyerContext.aggregate.count} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function wordsOf(metric: string): string {
  return metric.replaceAll('_', ' ');
}
