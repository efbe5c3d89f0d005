import { APIError, RateLimitError } from '@consigliere/sdk';
import { useEffect, useState } from 'react';

/** What went wrong, and what to quote when asking for help. */
export function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  return (
    <div className="failure" role="alert">
      <p>{error.message}</p>
      {error instanceof APIError && error.requestId && (
        <p className="quiet">
          Quote <code>{error.requestId}</code> when you ask for help.
        </p>
      )}
      {error instanceof RateLimitError && <LeftOf key={error.requestId} seconds={error.retryAfter ?? 60} />}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** The seconds that are left. */
export function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <span aria-live="off"> {Math.max(0, Math.ceil((until - now) / 1_000))} s</span>;
}

function LeftOf({ seconds }: { seconds: number }) {
  const [until] = useState(() => Date.now() + seconds * 1_000);
  return (
    <p>
      Wait <Countdown until={until} />.
    </p>
  );
}
