import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { GuardianBar } from './guardian/guardian-bar.js';
import { useLive } from './live.js';
import { signOut, useSession } from './session.js';
import { SignIn } from './sign-in.js';

/** Around every page: who is there, whether what is shown is live, and the way to stop everything. */
export function Shell({ children }: { children: ReactNode }) {
  const session = useSession();
  if (session.state === 'unknown')
    return <p className="empty">The service does not answer. Load this page again.</p>;
  if (session.state === 'none') return <SignIn />;
  if (session.state === 'locked') return <SignIn email={session.email} />;
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
          <Link to="/sent">What left</Link>
        </nav>
        <span className={`connection ${connection}`} role="status">
          {connection === 'lost' ? 'Not live: load again' : connection === 'live' ? 'Live' : 'Connecting'}
        </span>
        <GuardianBar />
        <span className="who">{name}</span>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </header>
      <main>{children}</main>
    </>
  );
}
