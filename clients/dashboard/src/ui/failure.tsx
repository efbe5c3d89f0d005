import { APIError, NotFoundError, RateLimitError, UnreadableAnswer } from '@consigliere/sdk';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useIsBack } from '../held.js';
import { openWorkspace, useWorkspaces } from '../session.js';
import { inNames } from './names.js';

const BETWEEN =
  'A proxy or another program answered in place of the service. Check whether it was done, and try again in a minute. If it happens again, ask the person who runs the service.';

/** What went wrong, what to quote when asking for help, and the way on. */
export function Failure({
  error,
  onRetry,
  isRepeated = false,
}: {
  error: Error;
  onRetry?: () => void;
  /** What was refused for too many requests is done again by itself. */
  isRepeated?: boolean | undefined;
}) {
  const isMissing = error instanceof NotFoundError;
  if (useIsBack(error))
    return <p className="quiet">The service answers again. Check whether it was done, or try again.</p>;
  return (
    <div className="failure" role="alert">
      <p>
        {isMissing
          ? 'Nothing here has this id, or you may not see it. The link may be incomplete, or belong to another workspace.'
          : error instanceof UnreadableAnswer
            ? BETWEEN
            : inNames(error.message)}
      </p>
      {error instanceof APIError && error.requestId && (
        <p className="quiet">
          Quote <code>{error.requestId}</code> when you ask for help.
        </p>
      )}
      {error instanceof RateLimitError && (
        <LeftOf key={error.requestId} seconds={error.retryAfter ?? 60} isRepeated={isRepeated} />
      )}
      {isMissing && <Elsewhere />}
      {isMissing && (
        <p>
          <Link to="/">Go to the inbox</Link>
        </p>
      )}
      {onRetry && !isMissing && (
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

/** What is not in this workspace may be in another one of the person. */
function Elsewhere() {
  const { name, others } = useWorkspaces();
  const change = useMutation({
    mutationFn: (workspaceId: string) => openWorkspace(workspaceId, location.pathname + location.search),
  });
  if (others.length === 0) return null;
  return (
    <>
      <p>This is the workspace {name}. You are in others too, and it may be there:</p>
      <p className="row">
        {others.map(({ workspaceId, workspaceName }) => (
          <button key={workspaceId} type="button" onClick={() => change.mutate(workspaceId)}>
            Look in {workspaceName}
          </button>
        ))}
      </p>
      {change.error && <p>{change.error.message}</p>}
    </>
  );
}

function LeftOf({ seconds, isRepeated }: { seconds: number; isRepeated: boolean }) {
  const [until] = useState(() => Date.now() + seconds * 1_000);
  return (
    <p>
      {isRepeated ? 'Leave this open: it is tried again in' : 'Wait'} <Countdown until={until} />.
    </p>
  );
}
