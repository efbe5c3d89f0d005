import { APIError } from '@consigliere/sdk';

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
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
