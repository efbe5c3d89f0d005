import { AuthenticationError, Consigliere, type SessionView, type SignInBody } from '@consigliere/sdk';
import { ConsigliereAdmin } from '@consigliere/sdk/admin';
import { useSyncExternalStore } from 'react';

/** What the page knows of who is there. */
export type SessionState =
  | { state: 'unknown' }
  | { state: 'none' }
  /** Signed in before; nothing is shown until the person signs in again. */
  | { state: 'locked'; email: string }
  | { state: 'open'; session: SessionView };

/** A token is made anew when it has less than this left. */
const RENEW_BEFORE_MS = 60_000;
/** A page that nobody has touched for so long is locked, as the session is at the service (CONTRACT, section 5). */
const IDLE_MS = 30 * 60_000;

const admin = new ConsigliereAdmin({ baseUrl: location.origin });

let current: SessionState = { state: 'unknown' };
/** The operator token stays in memory: never in storage, the address or a log. */
let token: { token: string; expiresAt: number } | undefined;
let renewal: Promise<string> | undefined;
let touchedAt = Date.now();
const listeners = new Set<() => void>();

function become(next: SessionState): void {
  current = next;
  if (next.state !== 'open') token = undefined;
  for (const listener of listeners) listener();
}

export function useSession(): SessionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}

/** The operator token to use now. Two calls at once make one. */
function tokenOfNow(): Promise<string> {
  if (token && token.expiresAt - Date.now() > RENEW_BEFORE_MS) return Promise.resolve(token.token);
  renewal ??= admin.session
    .createOperatorToken()
    .then((made) => {
      token = made;
      return made.token;
    })
    .finally(() => {
      renewal = undefined;
    });
  return renewal;
}

/** All work goes over this; account, members and tokens over {@link admin}. */
export const client = new Consigliere({
  baseUrl: location.origin,
  token: tokenOfNow,
  headers: { 'X-Service-Client': 'dashboard' },
});

/** Finds out whether the browser holds the cookie of a session. */
export async function resume(): Promise<void> {
  try {
    open(await admin.session.get());
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    become({ state: 'none' });
  }
}

/** @throws APIError where the credentials are wrong, or a code is wanted */
export async function signIn(credentials: SignInBody): Promise<void> {
  open(await admin.session.start(credentials));
}

export async function signOut(): Promise<void> {
  await admin.session.end().catch(() => undefined);
  become({ state: 'none' });
}

function open(session: SessionView): void {
  admin.csrfToken = session.csrfToken;
  touchedAt = Date.now();
  become({ state: 'open', session });
}

/** The session has ended at the service, or nobody is there: what was shown goes, what was typed stays. */
export function lock(): void {
  if (current.state === 'open') become({ state: 'locked', email: current.session.email });
}

/** Whether a call failed because the session has ended. */
export function endsSession(error: unknown): boolean {
  return error instanceof AuthenticationError;
}

for (const event of ['pointerdown', 'keydown', 'wheel'] as const) {
  addEventListener(event, () => (touchedAt = Date.now()), { passive: true, capture: true });
}
setInterval(() => {
  if (Date.now() - touchedAt > IDLE_MS) lock();
}, 5_000);
