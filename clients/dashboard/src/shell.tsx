import { useMutation } from '@tanstack/react-query';
import { CatchBoundary, Link, useNavigate } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { useHeld } from './held.js';
import { GuardianBar } from './guardian/guardian-bar.js';
import { useWaitingCount } from './inbox/use-waiting.js';
import { useLive } from './live.js';
import { mayActSomewhere, useMe, useMeQuery } from './me.js';
import { openWorkspace, signOut, useSession, useWorkspaces } from './session.js';
import { SignIn } from './sign-in.js';
import { tell, useTold } from './ui/told.js';
import { Countdown, Failure } from './ui/failure.js';

const SecondFactor = lazy(async () => ({
  default: (await import('./account/second-factor.js')).SecondFactor,
}));

const ChatPanel = lazy(async () => ({ default: (await import('./chat/chat-panel.js')).ChatPanel }));

const Palette = lazy(async () => ({ default: (await import('./palette/palette.js')).Palette }));

/** Around every page: who is there, whether what is shown is live, and the way to stop everything. */
export function Shell({ children }: { children: ReactNode }) {
  const session = useSession();
  if (session.state === 'unknown') return <p className="empty">Waiting for the service.</p>;
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

/** What fails beside a page leaves the page. */
const Broken = ({ error }: { error: unknown }) => <Failure error={error as Error} />;

const STATES = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Reconnecting',
  connection: 'The service does not answer; trying again soon',
  limit: 'Too many requests: continues in',
} as const;

const PAGES = [
  ['/', 'Inbox'],
  ['/directives', 'Directives'],
  ['/overview', 'Overview'],
  ['/sent', 'Sent and done'],
  ['/escalations', 'Escalations'],
  ['/guardian', 'Safety'],
  ['/setup', 'Set-up'],
] as const;

function SignedIn({ name, children }: { name: string; children: ReactNode }) {
  const connection = useLive();
  const told = useTold();
  const navigate = useNavigate();
  const held = useHeld();
  const chat = useChat();
  const me = useMeQuery();
  return (
    <>
      <header className="bar">
        <Menu name={name} />
        <Workspace />
        <span className={`connection ${held ? 'lost' : connection}`} role="status">
          {STATES[held?.why ?? connection]}
          {held?.why === 'limit' && <Countdown until={held.until} />}
        </span>
        <GuardianBar />
        <LostDeliveries />
        {chat.button}
        <Find />
        {/* In the bar, so that it is seen by those who have scrolled down as well. */}
        <p className="told" role="status">
          {told.sentence}
          {told.next && (
            <>
              {' '}
              <button
                type="button"
                onClick={() => {
                  void navigate({ href: told.next!.href });
                  tell('');
                }}
              >
                {told.next.verb}
              </button>
            </>
          )}
        </p>
      </header>
      {/* Nothing is read before it is known from where on changes are told, nor before it is known who reads: a button that
          came later would move what is below it away from the pointer. */}
      <main className={chat.panel ? 'with-chat' : undefined}>
        <div>
          {me.isError && <Failure error={me.error} onRetry={() => void me.refetch()} />}
          {connection !== 'connecting' && me.isFetched && children}
        </div>
        <CatchBoundary getResetKey={() => 'chat'} errorComponent={Broken}>
          {chat.panel}
        </CatchBoundary>
      </main>
    </>
  );
}

/** The pages: in a line where it fits, otherwise as a list that a button opens. */
function Menu({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false);
  const nav = useRef<HTMLElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => setOpen(false);
  useEffect(() => {
    if (!isOpen) return undefined;
    const onPointer = ({ target }: PointerEvent) => !nav.current!.contains(target as Node) && close();
    addEventListener('pointerdown', onPointer);
    return () => removeEventListener('pointerdown', onPointer);
  }, [isOpen]);
  return (
    <nav
      ref={nav}
      aria-label="Pages"
      onKeyDown={({ key }) => {
        if (key !== 'Escape' || !isOpen) return;
        close();
        button.current!.focus();
      }}
    >
      <Link to="/" className="brand" onClick={close}>
        Consigliere <Waiting />
      </Link>
      <button
        ref={button}
        type="button"
        className="menu"
        aria-expanded={isOpen}
        aria-controls="pages"
        onClick={() => setOpen(!isOpen)}
      >
        Menu
      </button>
      <div id="pages" className={isOpen ? 'open' : undefined}>
        {PAGES.map(([to, title]) => (
          <Link key={to} to={to} className={to === '/' ? 'inbox' : undefined} onClick={close}>
            {title}
          </Link>
        ))}
        <Link to="/account" className="me" onClick={close}>
          {name}
        </Link>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </nav>
  );
}

/** Where the person is: what they read, hand in and stop is of this workspace. */
function Workspace() {
  const { name, others } = useWorkspaces();
  const change = useMutation({ mutationFn: (workspaceId: string) => openWorkspace(workspaceId, '/') });
  if (others.length === 0) return <span className="workspace">{name}</span>;
  return (
    <>
      <select
        className="workspace"
        aria-label="Workspace"
        value=""
        disabled={change.isPending}
        onChange={({ target }) => change.mutate(target.value)}
      >
        <option value="">{name}</option>
        {others.map(({ workspaceId, workspaceName }) => (
          <option key={workspaceId} value={workspaceId}>
            Change to {workspaceName}
          </option>
        ))}
      </select>
      {change.error && <Failure error={change.error} />}
    </>
  );
}

/** How many approvals wait. */
function Waiting() {
  const count = useWaitingCount();
  if (count === 0) return null;
  return (
    <span className="count">
      {count}
      <span className="unseen"> in the inbox</span>
    </span>
  );
}

/** Whether the chat is open stays in the tab, as what is typed into it does. */
const CHAT_OPEN = 'chat:open';

/** Opens the chat beside the page, for those who may ask. */
function useChat(): { button: ReactNode; panel: ReactNode } {
  const mayAsk = mayActSomewhere(useMe(), 'operator');
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(() => sessionStorage.getItem(CHAT_OPEN) !== null);
  const show = (next: boolean) => {
    setOpen(next);
    if (next) return sessionStorage.setItem(CHAT_OPEN, 'yes');
    sessionStorage.removeItem(CHAT_OPEN);
    button.current?.focus();
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'j' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      if (!document.querySelector('[role=dialog]')) button.current?.click();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  if (!mayAsk) return { button: null, panel: null };
  return {
    button: (
      <button
        ref={button}
        type="button"
        aria-expanded={isOpen}
        aria-keyshortcuts="Control+J Meta+J"
        onClick={() => show(!isOpen)}
      >
        Chat
      </button>
    ),
    panel: isOpen && (
      <Suspense>
        <ChatPanel close={() => show(false)} />
      </Suspense>
    ),
  };
}

/** Deliveries to webhooks that were lost, for those who can send them again. */
function LostDeliveries() {
  const lost = useMe()?.counts.lostDeliveries;
  if (!lost) return null;
  return (
    <Link to="/connections" search={{ status: 'lost' }} className="stuck">
      {lost} {lost === 1 ? 'delivery was' : 'deliveries were'} lost
    </Link>
  );
}

/** Opens the palette. */
function Find() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      // Over another dialog it would take what that one asks for out of sight.
      if (!document.querySelector('[role=dialog]')) setOpen(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <button type="button" aria-keyshortcuts="Control+K Meta+K" onClick={() => setOpen(true)}>
        Find
      </button>
      {isOpen && (
        <CatchBoundary getResetKey={() => 'find'} errorComponent={Broken}>
          <Suspense>
            <Palette close={() => setOpen(false)} />
          </Suspense>
        </CatchBoundary>
      )}
    </>
  );
}
