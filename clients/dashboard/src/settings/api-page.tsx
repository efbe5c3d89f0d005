import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { mayAct, useMe } from '../me.js';
import { admin } from '../session.js';
import { Listing } from '../ui/listing.js';
import { NewTokenForm } from './new-token-form.js';
import { ShownToken, type Shown } from './shown-token.js';
import { TokenRow } from './token-row.js';

/** The tokens of programs and agents, and the lines with which they begin. */
export function ApiPage() {
  const me = useMe();
  const [shown, setShown] = useState<Shown>();
  if (!me) return <p className="empty">Loading.</p>;
  if (!mayAct(me, 'admin')) {
    return (
      <div className="page">
        <h1>API</h1>
        <p className="empty">Only admins make tokens. Ask one of them.</p>
      </div>
    );
  }
  return (
    <div className="page">
      <h1>API</h1>
      <p>
        Programs and agents use a token. <a href="/docs">The reference</a> lists every call.{' '}
        <Link to="/service">How the service is set up</Link>
      </p>
      {shown && <ShownToken shown={shown} onKept={() => setShown(undefined)} />}
      <NewTokenForm onMade={setShown} />
      <h2>Tokens</h2>
      <Listing
        queryKey={['tokens']}
        name="tokens"
        list={(page) => admin.tokens.list(page)}
        empty="No token yet. Make the first one above."
      >
        {(token) => <TokenRow key={token.tokenId} token={token} onMade={setShown} />}
      </Listing>
    </div>
  );
}
