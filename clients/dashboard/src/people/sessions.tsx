import type { ListedSession } from '@consigliere/sdk';
import { Link } from '@tanstack/react-router';
import { mayAct, useMe } from '../me.js';
import { admin, useSession } from '../session.js';
import { Act } from '../ui/act.js';
import { Listing } from '../ui/listing.js';
import { Time } from '../ui/time.js';

/** Where one is signed in oneself. */
export function OwnSessions() {
  const state = useSession();
  const memberId = state.state === 'open' ? state.session.workspace.memberId : undefined;
  const isAdmin = mayAct(useMe(), 'admin');
  return (
    <section aria-label="Sessions">
      <h2>Where you are signed in</h2>
      <Listing<ListedSession>
        name="own sessions"
        queryKey={['session', 'own']}
        list={(page) => admin.sessions.list({ ...page, ...(memberId && { memberId }) })}
        empty="Nowhere."
      >
        {(session) => <Session key={session.sessionId} session={session} isOwn />}
      </Listing>
      {isAdmin && (
        <p>
          You find the <Link to="/people">sessions of colleagues</Link> on the page People.
        </p>
      )}
    </section>
  );
}

/** Where everybody else is signed in. */
export function Sessions() {
  return (
    <section aria-label="Sessions">
      <h2>Who else is signed in</h2>
      <p>
        You are signed in too: <Link to="/account">your own sessions</Link>.
      </p>
      <Listing<ListedSession>
        queryKey={['session', 'others']}
        list={(page) => admin.sessions.list({ ...page, others: true })}
        empty="No colleague is signed in at present."
      >
        {(session) => <Session key={session.sessionId} session={session} />}
      </Listing>
    </section>
  );
}

function Session({ session, isOwn = false }: { session: ListedSession; isOwn?: boolean }) {
  const { sessionId, memberName, address, userAgent, method, secondFactor, createdAt, lastSeenAt, current } =
    session;
  const device = deviceOf(userAgent);
  const subject = isOwn ? `your session in ${device}` : `the session of ${memberName} in ${device}`;
  return (
    <li>
      <span className="title">{isOwn ? device : memberName}</span>
      <span className="facts">
        {current && <span className="count">this browser</span>}
        {!isOwn && <span>{device}</span>}
        <span>{address}</span>
        <span>{method === 'oidc' ? 'by the provider' : 'by password'}</span>
        {secondFactor && <span>with a second factor</span>}
        <span>
          used last <Time at={lastSeenAt} />
        </span>
        <span>
          signed in <Time at={createdAt} />
        </span>
      </span>
      {!current && (
        <Act
          verb="End"
          of={`${subject} from ${address}`}
          effect={`${isOwn ? 'You are' : `${memberName} is`} signed out there within a second. ${isOwn ? 'If you do not know it, change your password too.' : 'If they do not know it, have them change their password.'}`}
          isDanger
          act={() => admin.sessions.end(sessionId)}
          stale={['session']}
          says={`${subject.replace(/^[ty]/, (first) => first.toUpperCase())} is ended.${isOwn ? ' If that was not you, change your password.' : ''}`}
        />
      )}
    </li>
  );
}

/** The first that fits: each of them claims to be some of those below it. */
const BROWSERS: readonly [mark: RegExp, name: string][] = [
  [/Edg/, 'Edge'],
  [/OPR/, 'Opera'],
  [/Firefox|FxiOS/, 'Firefox'],
  [/Chrome|CriOS/, 'Chrome'],
  [/Safari/, 'Safari'],
];
const SYSTEMS: readonly [mark: RegExp, name: string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];

/** How a person knows the program that a session is open in: its browser and system, as it says itself. */
function deviceOf(userAgent: string | null): string {
  if (userAgent === null) return 'an unknown program';
  const nameIn = (known: typeof BROWSERS) => known.find(([mark]) => mark.test(userAgent))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (!browser) return userAgent;
  return system ? `${browser} on ${system}` : browser;
}
