import type { BootstrapView, ListedSession } from '@consigliere/sdk';
import { mayAct } from '../me.js';
import { admin } from '../session.js';
import { Act } from '../ui/act.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';

/** Where people are signed in: one's own sessions, and for an admin those of everybody. */
export function Sessions({ me }: { me: BootstrapView }) {
  return (
    <section aria-label="Sessions">
      <h2>{mayAct(me, 'admin') ? 'Who is signed in' : 'Where you are signed in'}</h2>
      <Listing<ListedSession>
        queryKey={['session']}
        list={(page) => admin.sessions.list(page)}
        empty="Nobody is signed in."
      >
        {({ sessionId, memberName, address, userAgent, method, secondFactor, lastSeenAt, current }) => (
          <li key={sessionId}>
            <span className="title">
              {memberName} {current && '(this one)'}
            </span>
            <span className="facts">
              <span>{address}</span>
              <span>{method === 'oidc' ? 'by the provider' : 'by password'}</span>
              {secondFactor && <span>with a second factor</span>}
              <span>
                seen <Time at={lastSeenAt} />
              </span>
              {userAgent !== null && <span>{userAgent}</span>}
            </span>
            {!current && (
              <Act
                verb="End"
                of={`the session of ${memberName} from ${address}`}
                effect="Within a second neither its cookie nor a token that it made opens anything."
                isDanger
                act={() => admin.sessions.end(sessionId)}
                stale={['session', 'sessions']}
              />
            )}
          </li>
        )}
      </Listing>
    </section>
  );
}
