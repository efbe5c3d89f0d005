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
      {error instanceof RateLimitError && onRetry ? (
        <Countdown error={error} onRetry={onRetry} />
      ) : (
        onRetry && (
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        )
      )}
    </div>
  );
}

/** Asks again by itself once the limit lets it. */
function Countdown({ error, onRetry }: { error: RateLimitError; onRetry: () => void }) {
  const [left, setLeft] = useState(error.retryAfter ?? 60);
  useEffect(() => {
    if (left <= 0) return onRetry();
    const timer = setTimeout(() => setLeft(left - 1), 1_000);
    return () => clearTimeout(timer);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- a function of the parent that is another each time it renders
  }, [left]);
  return <p aria-live="off">It is asked again in {left} s.</p>;
}
