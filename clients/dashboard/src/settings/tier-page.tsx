import type { BootstrapView, SubscriptionView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { mayAct, useMe } from '../me.js';
import { admin, client } from '../session.js';
import { Field, Form } from '../ui/form.js';
import { Loaded } from '../ui/list.js';
import { Time } from '../ui/time.js';

/** What the tier allows, how much of it is left, and the licence that it comes from. */
export function TierPage() {
  const me = useMe();
  const workspace = useQuery({
    queryKey: ['workspace', 'own'],
    queryFn: () => admin.workspace.get(),
    // It is used up by every request.
    staleTime: 0,
  });
  const subscription = useQuery({
    queryKey: ['subscription'],
    queryFn: () => client.subscription.verify({}),
  });
  if (!me) return <p className="empty">Loading.</p>;
  return (
    <div className="page">
      <h1>Tier and licence</h1>
      <section aria-label="Tier">
        <Loaded query={workspace}>
          {({ tier, requestsPerMinute, requestsPerDay, leftThisMinute, leftToday }) => (
            <>
              <p>
                The tier is <strong>{tier}</strong>.
              </p>
              <dl className="figures">
                <Left title="Requests this minute" left={leftThisMinute} of={requestsPerMinute} />
                <Left title="Requests today, until 00:00 UTC" left={leftToday} of={requestsPerDay} />
              </dl>
              {requestsPerDay !== null && (
                <p className="quiet">
                  All members, programs and agents of the workspace share them, these pages too. Agents
                  together get 80 % at most. The kill switch is never refused.
                </p>
              )}
            </>
          )}
        </Loaded>
      </section>
      <section aria-label="Licence">
        <h2>Licence</h2>
        <Loaded query={subscription}>{(data) => <Licence licence={data} />}</Loaded>
        <Install me={me} />
      </section>
    </div>
  );
}

function Left({ title, left, of }: { title: string; left: number | null; of: number | null }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {left === null || of === null
          ? 'no limit'
          : `${left.toLocaleString()} of ${of.toLocaleString()} left`}
      </dd>
    </div>
  );
}

const STATES = {
  active: 'active',
  grace: 'expired: everything works for 14 more days',
  expired: 'expired',
};

function Licence({
  licence: { status, message, entitlements, expiresAt, graceUntil },
}: {
  licence: SubscriptionView;
}) {
  return (
    <>
      <p role="status" className={status === 'active' || status === 'none' ? undefined : 'warning'}>
        {message}
      </p>
      <p className="facts">
        {status !== 'none' && (
          <span className={status === 'active' ? 'count' : 'urgent'}>{STATES[status]}</span>
        )}
        {expiresAt !== null && (
          <span>
            until <Time at={expiresAt} />
          </span>
        )}
        {graceUntil !== null && (
          <span>
            the tier stays until <Time at={graceUntil} />
          </span>
        )}
        {entitlements.length > 0 && <span>allows {entitlements.join(', ')}</span>}
      </p>
    </>
  );
}

function Install({ me }: { me: BootstrapView }) {
  if (!me.features.licences) return null;
  if (!mayAct(me, 'admin')) return <p className="quiet">Admins install a licence.</p>;
  return (
    <Form
      about="licence"
      verb="Install the licence"
      act={async ({ licenseKey }) => {
        const checked = await client.subscription.verify({ licenseKey: licenseKey! });
        // The service answers why not, and has changed nothing.
        if (!checked.valid) throw new Error(checked.message);
      }}
      stale={['subscription', 'workspace', 'me']}
    >
      <Field label="Licence key" hint={`issued for ${me.workspace.workspaceId}`}>
        <textarea name="licenseKey" required maxLength={8_000} spellCheck={false} />
      </Field>
    </Form>
  );
}
