import { SESSION_IDLE_MINUTES } from '../../platform/auth/callers.js';
import { csrfTokenOf } from '../../platform/auth/session-cookie.js';
import type { SessionEntity } from './session.entity.js';
import type { OwnWorkspace, SessionView } from './sessions.dto.js';

/** However often it is used, a session ends so long after the sign-in (CONTRACT, Admin). */
const SESSION_HOURS = 12;

const MINUTE_MS = 60_000;

/** When a session that began at `createdAt` ends at the latest, Unix milliseconds. */
export const lastEndOf = (createdAt: number): number => createdAt + SESSION_HOURS * 60 * MINUTE_MS;

/** When it ends unless a request comes before, Unix milliseconds. */
export function endOf({ lastSeenAt, expiresAt }: Pick<SessionEntity, 'lastSeenAt' | 'expiresAt'>): number {
  return Math.min(expiresAt, lastSeenAt + SESSION_IDLE_MINUTES * MINUTE_MS);
}

/** A session as its owner sees it; `secret` is what the cookie carries. */
export function viewOf(
  session: SessionEntity & { lacksSecondFactor: boolean },
  secret: string,
  account: Pick<SessionView, 'displayName' | 'email'>,
  places: { workspace: OwnWorkspace; workspaces: OwnWorkspace[] },
): SessionView {
  const { sessionId, method, secondFactor, lacksSecondFactor, createdAt, expiresAt } = session;
  const { displayName, email } = account;
  const { workspace, workspaces } = places;
  return {
    sessionId,
    csrfToken: csrfTokenOf(secret),
    method,
    secondFactor,
    lacksSecondFactor,
    workspace,
    workspaces,
    displayName,
    email,
    createdAt,
    endsAt: endOf(session),
    expiresAt,
  };
}
