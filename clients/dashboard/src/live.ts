import type { ApprovalPage, ApprovalView, BootstrapView, FeedEvent, SetupView } from '@consigliere/sdk';
import { type InfiniteData, type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { tellIsBack, waitOf } from './held.js';
import { INBOX } from './inbox/use-waiting.js';
import { client, endsSession, INPUT, keyOfTab, lock } from './session.js';

export type Connection = 'connecting' | 'live' | 'lost';

/** What the tab that reads the stream tells the others; a new one asks for it. */
interface Told {
  /** When that tab began to read: what the one before it told late no longer counts. */
  since: number;
  connection: Connection;
  /** The last entry that was told before this; undefined while none is known. */
  upTo: number | undefined;
  entry?: FeedEvent;
}

/** The one tab that holds this lock reads the stream of a person in a workspace, and tells the others. */
const LOCK = 'consigliere-feed';
/** So long a page waits for the stream before it shows what there is. */
const PATIENCE_MS = 3_000;

/** Keeps what is shown as it is at the service, by one stream for all tabs. Answers the state of the connection. */
export function useLive(): Connection {
  const queries = useQueryClient();
  const [connection, setConnection] = useState<Connection>('connecting');
  useEffect(() => {
    const ended = new AbortController();
    const name = keyOfTab(LOCK);
    const channel = new BroadcastChannel(name);
    /** The last entry that this tab knows of: where it goes on when it becomes the one that reads. */
    let seen: number | undefined;
    let now: Connection = 'connecting';
    let since = 0;
    let isReader = false;
    const become = (next: Connection) => {
      now = next;
      setConnection(next);
    };
    const take = (told: Told) => {
      if (told.since < since || ended.signal.aborted) return;
      since = told.since;
      // What happened in between was told to nobody here.
      const isGap = told.upTo !== undefined && (seen === undefined ? now === 'lost' : seen !== told.upTo);
      if (isGap) {
        stale.add(ALL);
        readSoon(queries);
      }
      seen = told.entry?.seq ?? told.upTo ?? seen;
      if (now === 'lost' && told.connection === 'live') {
        if (!isGap) void queries.refetchQueries({ predicate: ({ state }) => state.status === 'error' });
        tellIsBack();
      }
      // What is shown already stays while another tab connects.
      become(told.connection === 'connecting' && now !== 'connecting' ? 'lost' : told.connection);
      if (told.entry) patch(queries, told.entry);
    };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin, that of the page
    const post = (message: Told | 'asked') => channel.postMessage(message);
    const tell = (next: Connection, upTo = seen, entry?: FeedEvent) => {
      const told = { since, connection: next, upTo, ...(entry && { entry }) };
      take(told);
      post(told);
    };
    channel.addEventListener('message', ({ data }: MessageEvent<Told | 'asked'>) => {
      if (data !== 'asked') take(data);
      else if (isReader) post({ since, connection: now, upTo: seen });
    });
    const read = async () => {
      isReader = true;
      since = Math.max(Date.now(), since + 1);
      // Until its own stream stands nobody reads, whatever the tab before it told.
      tell('connecting');
      while (!ended.signal.aborted) {
        try {
          const stream = client.feed.stream({
            signal: ended.signal,
            ...(seen !== undefined && { lastEventId: seen }),
            onOpen: (lastEventId) => tell('live', lastEventId),
            onLost: () => tell('lost'),
          });
          for await (const entry of stream) tell('live', seen, entry);
        } catch (error) {
          if (ended.signal.aborted) return;
          if (endsSession(error)) return lock();
          tell('lost');
          await new Promise((again) => setTimeout(again, waitOf(error) ?? PATIENCE_MS));
        }
      }
    };
    const impatient = setTimeout(() => now === 'connecting' && become('lost'), PATIENCE_MS);
    post('asked');
    // A page that is left gives the stream up at once, even while it waits.
    const left = new Promise<void>((resolve) => ended.signal.addEventListener('abort', () => resolve()));
    navigator.locks
      .request(name, { signal: ended.signal }, () => Promise.race([read(), left]))
      .catch(() => undefined);
    return () => {
      clearTimeout(impatient);
      ended.abort();
      channel.close();
    };
  }, [queries]);
  return connection;
}

/** Entries that come together have what they changed read again once: soon, and not again for a while. */
const TOGETHER_MS = 300;
const APART_MS = 2_000;
const FIGURES_MS = 60_000;
const DAY_MS = 86_400_000;
/** The key of all queries. */
const ALL = '';
/** Keys of queries, their parts apart by a space. */
const stale = new Set<string>();
let lastRead = 0;
/** How often an entry had something read again since a person did something. */
let untouched = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** After these an approval waits for nobody. */
const DECIDED = new Set([
  'approval.approved',
  'approval.rejected',
  'approval.answered',
  'approval.changes_requested',
  'approval.expired',
  'approval.cancelled',
]);

/** What becomes of a directive after the decision. */
const LATER = new Set(['directive.executing', 'directive.sending', 'directive.executed']);

/** The first steps that an entry may complete. */
const STEPS: Record<string, keyof SetupView['steps']> = {
  'directive.created': 'directive',
  'approval.approved': 'approval',
};

/** The set-up is made of these. */
const OF_SETUP = new Set(['settings', 'setup', 'standing_order', 'guardian']);

/** What is known of oneself has parts of these. */
const OF_ME = new Set([
  'settings',
  'subscription',
  'workspace',
  'skill_pack',
  'member',
  'team',
  'webhook',
  'delivery',
]);

/** What an entry may have changed is read again, where it is shown and once it is looked at. */
function patch(queries: QueryClient, { action, entity, directiveId }: FeedEvent): void {
  const keys: string[] = [];
  const add = (...more: string[]) => keys.push(...more);
  const about = action.split('.', 1)[0]!;
  // Queries of the set-up are named as the entries about them are; `one_` is what is gone once it is deleted.
  add('feed', 'figures');
  if (about === 'approval') add(`approval ${entity.id}`);
  else add(about, `one_${about}`);
  const step = STEPS[action];
  const isStep = step && !queries.getQueryData<SetupView>(['setup'])?.steps[step];
  if (isStep || OF_SETUP.has(about)) add('setup');
  if (DECIDED.has(action)) {
    leaveInbox(queries, [entity.id]);
    add('approvals count', 'approvals urgent');
  }
  // A draft that became ready is told of its directive, and decides what can be done with its approval.
  else if (about === 'approval' || (about === 'directive' && !LATER.has(action))) {
    add('approvals');
    for (const [key, approval] of queries.getQueriesData<ApprovalView>({ queryKey: ['approval'] }))
      if (!approval || approval.directiveId === directiveId) add(key.join(' '));
  }
  if (directiveId !== null) add('directives', 'directive');
  if (about === 'packet' || about === 'action') add('sent');
  if (about === 'guardian') add('me', 'approvals', 'approval');
  if (about === 'escalation') add('escalations');
  if (about === 'token') add('agent', 'tokens');
  if (about === 'delivery') add('webhook');
  if (about === 'webhook') add('delivery');
  if (about === 'invite' || about === 'member') add('member', 'team', 'notifications');
  if (OF_ME.has(about)) add('me');
  changed(queries, keys);
  // A stop is seen at once, by those too who have not touched the page.
  if (about === 'guardian') readSoon(queries);
}

function changed(queries: QueryClient, keys: readonly string[]): void {
  for (const key of keys) stale.add(key);
  readAgain(queries);
}

function readAgain(queries: QueryClient): void {
  if (timer !== undefined || document.hidden) return;
  timer = setTimeout(
    () => {
      timer = undefined;
      if (document.hidden) return;
      lastRead = Date.now();
      untouched++;
      const keys = [...stale];
      stale.clear();
      if (keys.includes(ALL)) return void queries.invalidateQueries();
      for (const key of keys) {
        const queryKey = key.split(' ');
        void queries.invalidateQueries({ queryKey, predicate: (query) => !isOffered(query) });
        void queries.invalidateQueries({ queryKey, predicate: isOffered, refetchType: 'none' });
      }
    },
    Math.max(TOGETHER_MS, Math.min(apartMs(queries), lastRead + apartMs(queries) - Date.now())),
  );
}

function readSoon(queries: QueryClient): void {
  untouched = 0;
  clearTimeout(timer);
  timer = undefined;
  if (stale.size > 0) readAgain(queries);
}

/** A page that nobody touches reads more and more rarely: at last no more often than its tier allows all day. */
function apartMs(queries: QueryClient): number {
  return Math.min(APART_MS * 2 ** untouched, Math.max(APART_MS, spreadMs(queries)));
}

/** Between two requests, were those of the tier spread over the day. */
function spreadMs(queries: QueryClient): number {
  return DAY_MS / (queries.getQueryData<BootstrapView>(['me'])?.limits.requestsPerDay ?? Infinity);
}

/** Figures follow by themselves, later; and where somebody reads far down in a list, it is offered to be read again. */
function isOffered({ queryKey, state }: Query): boolean {
  const { pages = [] } = (state.data ?? {}) as { pages?: unknown[] };
  return queryKey[0] === 'figures' || pages.length > 1;
}

/** A hidden tab asks nothing; once it is looked at, what has changed meanwhile is read. */
export function readWhenShown(queries: QueryClient): void {
  // Any entry may change a figure, and none tells which: they are read a while after something happened.
  queries.setQueryDefaults(['figures'], {
    refetchInterval: ({ state }) => state.isInvalidated && Math.max(FIGURES_MS, spreadMs(queries)),
  });
  document.addEventListener('visibilitychange', () => readSoon(queries));
  const onInput = () => untouched > 0 && readSoon(queries);
  for (const event of INPUT) addEventListener(event, onInput, { passive: true, capture: true });
}

/** Takes what is decided out of the inbox, without asking for the rest again. */
export function leaveInbox(queries: QueryClient, ids: readonly string[]): void {
  const before = queries.getQueryState(INBOX);
  queries.setQueryData<InfiniteData<ApprovalPage>>(INBOX, (read) => {
    if (!read) return read;
    const pages = read.pages.map((page) => ({
      ...page,
      items: page.items.filter(({ approvalId }) => !ids.includes(approvalId)),
    }));
    return { ...read, pages };
  });
  // What is being read may still have them, and what was stale is no fresher for this.
  if (before?.isInvalidated || before?.fetchStatus === 'fetching') changed(queries, [INBOX.join(' ')]);
}
