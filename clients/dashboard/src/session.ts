import {
  AuthenticationError,
  Consigliere,
  type OwnWorkspace,
  type SessionView,
  type SignInBody,
} from '@consigliere/sdk';
import { ConsigliereAdmin } from '@consigliere/sdk/admin';
import { useSyncExternalStore } from 'react';
import { fetchOnce, forgetRequests } from './once.js';

/** What the page knows of who is there. */
export type SessionState =
  | { state: 'unknown' }
  | { state: 'none' }
  /** Signed in before; nothing is shown until the person signs in again. */
  | { state: 'locked'; email: string }
  | { state: 'open'; session: SessionView };

/** A token lives for 15 minutes and is made anew a minute before, by the clock of this machine, whatever that of the service says. */
const TOKEN_MS = 14 * 60_000;
/** A page that nobody has touched for so long is locked, as the session is at the service (CONTRACT, section 5). */
const IDLE_MS = 30 * 60_000;

/** What a person does at a page. */
export const INPUT = ['pointerdown', 'keydown', 'wheel'] as const;

/** Between two times at which a tab tells the others that a person is there. */
const TELL_EVERY_MS = 5_000;
/** What one tab tells the others: a person is there, has signed in, or has signed out. */
type Told = { what: 'input' } | { what: 'in'; email: string; workspaceId: string } | { what: 'out' };
const tabs = new BroadcastChannel('consigliere-session');
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin, that of the page
const tell = (told: Told) => tabs.postMessage(told);

/** A refusal that asks for a longer wait is shown, with the time that is left. */
const MAX_WAIT_MS = 2_000;
/** The client library calls it with these alone. */
const once = fetchOnce as typeof fetch;

/** Whose texts the tab keeps. */
const TYPED_BY = 'typed-by';
/** The CSRF token of a session that somebody has signed out of, while the service does not know it yet. */
const SIGNED_OUT = 'signed-out';

/** The routes of the account, its members and tokens, over the cookie of the session. */
export const admin = new ConsigliereAdmin({
  baseUrl: location.origin,
  maxWait: MAX_WAIT_MS,
  fetch: once,
});

let current: SessionState = { state: 'unknown' };
/** The workspace that is open, or was before the page was locked. */
let here = '';
/** The operator token stays in memory: never in storage, the address or a log. */
let token: string | undefined;
let renewal: Promise<string> | undefined;
/** The end of the session that was signed out of last. */
let ending: Promise<void> = Promise.resolve();
/** When the token was made last: input since then lets another one be made. */
let renewedAt = 0;
let touchedAt = Date.now();
let toldAt = 0;
const waitingForInput = new Set<() => void>();
const listeners = new Set<() => void>();

function become(next: SessionState): void {
  current = next;
  if (next.state !== 'open') token = undefined;
  for (const listener of listeners) listener();
}

/** Calls back whenever it changes who is there. */
export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function sessionNow(): SessionState {
  return current;
}

export function useSession(): SessionState {
  return useSyncExternalStore(onSessionChange, sessionNow);
}

/**
 * Under which the session storage keeps something of the open workspace: a person who comes back to a workspace finds what they typed
 * there, and never in another one.
 */
export function keyOfTab(name: string): string {
  return `${here} ${name}`;
}

/** The open workspace, and the others of the person who is there. */
export function useWorkspaces(): { name: string; others: OwnWorkspace[] } {
  const state = useSession();
  if (state.state !== 'open') return { name: '', others: [] };
  const { workspace, workspaces } = state.session;
  const others = workspaces.filter(({ workspaceId }) => workspaceId !== workspace.workspaceId);
  return { name: workspace.workspaceName, others };
}

/** The operator token to use now. Two calls at once make one. */
function tokenOfNow(): Promise<string> {
  if (token !== undefined && Date.now() - renewedAt < TOKEN_MS) return Promise.resolve(token);
  renewal ??= renew().finally(() => {
    renewal = undefined;
  });
  return renewal;
}

/** A page that nobody touches does not keep its session alive: what it asks waits for the next input of a person. */
async function renew(): Promise<string> {
  if (touchedAt <= renewedAt) await new Promise<void>((resolve) => waitingForInput.add(resolve));
  const session = current;
  const made = await admin.session.createOperatorToken();
  // Meanwhile the session ended, or another person signed in.
  if (current !== session) return renew();
  renewedAt = Date.now();
  return (token = made.token);
}

/** A person has done something, unless they come back too late. */
function touch(): void {
  if (isIdle()) return lock();
  touchedAt = Date.now();
  if (touchedAt - toldAt > TELL_EVERY_MS) {
    toldAt = touchedAt;
    tell({ what: 'input' });
  }
  goOn();
}

function goOn(): void {
  for (const resolve of waitingForInput) resolve();
  waitingForInput.clear();
}

/** All work goes over this; account, members and tokens over {@link admin}. */
export const client = new Consigliere({
  baseUrl: location.origin,
  token: tokenOfNow,
  maxWait: MAX_WAIT_MS,
  fetch: once,
  // What the stream tells of is read at once, where a replica may not have it yet.
  headers: { 'X-Service-Client': 'dashboard', 'X-Service-Position': 'latest' },
});

/** Finds out whether the browser holds the cookie of a session. */
export async function resume(): Promise<void> {
  try {
    const session = await admin.session.get();
    if (localStorage.getItem(SIGNED_OUT) !== session.csrfToken) return open(session);
    admin.csrfToken = session.csrfToken;
    await signOut();
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    become({ state: 'none' });
  }
}

/** @throws APIError where the credentials are wrong, or a code is wanted */
export async function signIn(credentials: SignInBody): Promise<void> {
  // A late answer to it would take the cookie of the new session away.
  await ending;
  open(await admin.session.start(credentials));
}

/** Opens another workspace of the person, where the page begins anew. @throws APIError */
export async function openWorkspace(workspaceId: string, path: string): Promise<void> {
  await admin.session.openWorkspace({ workspaceId });
  location.assign(path);
}

/** Shows nothing more at once; where the service cannot be told, the session is ended before anything is shown again. */
export async function signOut(): Promise<void> {
  localStorage.setItem(SIGNED_OUT, admin.csrfToken ?? '');
  tell({ what: 'out' });
  forgetPerson();
  become({ state: 'none' });
  ending = admin.session.end().then(
    () => localStorage.removeItem(SIGNED_OUT),
    (error: unknown) => {
      if (endsSession(error)) localStorage.removeItem(SIGNED_OUT);
    },
  );
  await ending;
}

function forgetPerson(): void {
  sessionStorage.clear();
  forgetRequests();
}

function open(session: SessionView): void {
  here = session.workspace.workspaceId;
  // What one person typed is not left to another, after a reload neither.
  if ((sessionStorage.getItem(TYPED_BY) ?? session.email) !== session.email) forgetPerson();
  sessionStorage.setItem(TYPED_BY, session.email);
  tell({ what: 'in', email: session.email, workspaceId: here });
  admin.csrfToken = session.csrfToken;
  // A token belongs to the session that made it.
  token = undefined;
  renewedAt = 0;
  touchedAt = Date.now();
  touch();
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

function isIdle(): boolean {
  return Date.now() - touchedAt > IDLE_MS;
}

for (const event of INPUT) {
  addEventListener(event, touch, { passive: true, capture: true });
}
const lockIfIdle = () => {
  if (isIdle()) lock();
};
setInterval(lockIfIdle, 5_000);
// After a sleep of the machine the timer is late.
document.addEventListener('visibilitychange', lockIfIdle);

// The tabs of a browser have one session, and one person before them.
tabs.addEventListener('message', ({ data }: MessageEvent<Told>) => {
  if (data.what === 'out') {
    forgetPerson();
    become({ state: 'none' });
  } else if (data.what === 'in') {
    if (current.state !== 'open') return void resume().catch(() => undefined);
    const { email, workspace } = current.session;
    // Nothing that another person, or of another workspace, has on the screen stays there.
    if (email !== data.email || workspace.workspaceId !== data.workspaceId) location.reload();
  } else if (!isIdle()) {
    touchedAt = Date.now();
    goOn();
  }
});
