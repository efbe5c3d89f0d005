import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import { GuardianBar } from './guardian/guardian-bar.js';
import { useLive } from './live.js';
import { signOut, useSession } from './session.js';
import { SignIn } from './sign-in.js';

const SecondFactor = lazy(async () => ({
  default: (await import('./account/second-factor.js')).SecondFactor,
}));

/** Around every page: who is there, whether what is shown is live, and the way to stop everything. */
export function Shell({ children }: { children: ReactNode }) {
  const session = useSession();
  if (session.state === 'unknown')
    return <p className="empty">The service does not answer. Load this page again.</p>;
  if (session.state === 'none') return <SignIn />;
  if (session.state === 'locked') return <SignIn email={session.email} />;
  if (session.session.lacksSecondFactor) {
    return (
      <main className="narrow">
        <Suspense>
          <SecondFactor isGate />
        </Suspense>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </main>
    );
  }
  return <SignedIn name={session.session.displayName}>{children}</SignedIn>;
}

function SignedIn({ name, children }: { name: string; children: ReactNode }) {
  const connection = useLive();
  return (
    <>
      <header className="bar">
        <nav aria-label="Pages">
          <Link to="/" className="brand">
            Consigliere
          </Link>
          <Link to="/directives">Directives</Link>
          <Link to="/overview">Overview</Link>
          <Link to="/sent">What left</Link>
          <Link to="/escalations">Escalations</Link>
          <Link to="/guardian">Safety</Link>
          <Link to="/setup">Set-up</Link>
        </nav>
        <span className={`connection ${connection}`} role="status">
          {connection === 'lost' ? 'Not live: load again' : connection === 'live' ? 'Live' : 'Connecting'}
        </span>
        <GuardianBar />
        <Link to="/account" className="who">
          {name}
        </Link>
        <button type="button" className="sign-out" onClick={() => void signOut()}>
          Sign out
        </button>
      </header>
      {/* Nothing is read before it is known from where on changes are told. */}
      <main>{connection !== 'connecting' && children}</main>
    </>
  );
}
