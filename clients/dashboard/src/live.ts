import type { ApprovalPage, ApprovalSummary, FeedEvent } from '@consigliere/sdk';
import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { tellIsBack, waitOf } from './held.js';
import { client, endsSession, lock } from './session.js';

export type Connection = 'connecting' | 'live' | 'lost';

/** What the tab that reads the stream tells the others; a new one asks how it is. */
type Told = { entry: FeedEvent } | { connection: Connection } | 'asked';

/** The one tab that holds this lock reads the stream and tells the others. */
const LOCK = 'consigliere-feed';
/** So long a page waits for the stream before it shows what there is. */
const PATIENCE_MS = 3_000;

/** Keeps what is shown as it is at the service, by one stream for all tabs. Answers the state of the connection. */
export function useLive(): Connection {
  const queries = useQueryClient();
  const [connection, setConnection] = useState<Connection>('connecting');
  useEffect(() => {
    const ended = new AbortController();
    const channel = new BroadcastChannel(LOCK);
    /** The last entry that this tab knows of: where it goes on when it becomes the one that reads. */
    let seen: number | undefined;
    let now: Connection = 'connecting';
    let isReader = false;
    const become = (next: Connection) => {
      // What happened before the stream stood was told to nobody.
      if (next === 'live' && now === 'lost') {
        if (seen === undefined) void queries.invalidateQueries();
        else void queries.refetchQueries({ predicate: ({ state }) => state.status === 'error' });
        tellIsBack();
      }
      now = next;
      setConnection(next);
    };
    const take = (entry: FeedEvent) => {
      seen = entry.seq;
      patch(queries, entry);
    };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin, that of the page
    const tell = (what: Told) => channel.postMessage(what);
    channel.addEventListener('message', ({ data }: MessageEvent<Told>) => {
      if (data === 'asked') {
        if (isReader) tell({ connection: now });
      } else if ('entry' in data) take(data.entry);
      else become(data.connection);
    });
    const turn = (next: Connection) => {
      become(next);
      tell({ connection: next });
    };
    const read = async () => {
      isReader = true;
      while (!ended.signal.aborted) {
        try {
          const stream = client.feed.stream({
            signal: ended.signal,
            ...(seen !== undefined && { lastEventId: seen }),
            onOpen: (lastEventId) => {
              turn('live');
              seen = lastEventId;
            },
            onLost: () => turn('lost'),
          });
          for await (const entry of stream) {
            take(entry);
            tell({ entry });
          }
        } catch (error) {
          if (ended.signal.aborted) return;
          if (endsSession(error)) return lock();
          turn('lost');
          await new Promise((again) => setTimeout(again, waitOf(error) ?? PATIENCE_MS));
        }
      }
    };
    const impatient = setTimeout(() => now === 'connecting' && become('lost'), PATIENCE_MS);
    tell('asked');
    navigator.locks.request(LOCK, { signal: ended.signal }, read).catch(() => undefined);
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
/** Keys of queries, their parts apart by a space. */
const stale = new Set<string>();
let lastRead = 0;
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

/** What is known of oneself has parts of these. */
const OF_ME = new Set(['settings', 'subscription', 'workspace', 'skill_pack', 'member', 'team']);

/** What an entry may have changed is read again, where it is shown and once it is looked at. */
function patch(queries: QueryClient, { action, entity, directiveId }: FeedEvent): void {
  const add = (...keys: string[]) => keys.forEach((key) => stale.add(key));
  const about = action.split('.', 1)[0]!;
  // Queries of the set-up are named as the entries about them are; `one_` is what is gone once it is deleted.
  add('feed', 'setup');
  if (about === 'approval') add(`approval ${entity.id}`);
  else add(about, `one_${about}`);
  if (DECIDED.has(action)) {
    leaveInbox(queries, [entity.id]);
    add('approvals count', 'approvals urgent');
  }
  // A draft that became ready is told of its directive, and decides what can be done with its approval.
  else if (about === 'approval' || (about === 'directive' && !LATER.has(action)))
    add('approvals', 'approval');
  if (directiveId !== null) add('directives', 'directive');
  if (about === 'guardian' || about === 'kill') add('me', 'guardian', 'approvals', 'approval');
  if (about === 'escalation') add('escalations');
  if (about === 'token') add('agent', 'tokens');
  if (about === 'invite' || about === 'member') add('member', 'team', 'notifications');
  if (OF_ME.has(about)) add('me');
  readAgain(queries);
}

function readAgain(queries: QueryClient): void {
  if (timer !== undefined || document.hidden) return;
  timer = setTimeout(
    () => {
      timer = undefined;
      if (document.hidden) return;
      lastRead = Date.now();
      const keys = [...stale];
      stale.clear();
      for (const key of keys) {
        const queryKey = key.split(' ');
        void queries.invalidateQueries({ queryKey, predicate: (query) => !hasPages(query) });
        // Somebody reads far down in it: it is offered to be read again.
        void queries.invalidateQueries({ queryKey, predicate: hasPages, refetchType: 'none' });
      }
    },
    Math.max(TOGETHER_MS, Math.min(APART_MS, lastRead + APART_MS - Date.now())),
  );
}

function hasPages({ state }: Query): boolean {
  return ((state.data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) > 1;
}

/** A hidden tab asks nothing; once it is looked at, what has changed meanwhile is read. */
export function readWhenShown(queries: QueryClient): void {
  document.addEventListener('visibilitychange', () => {
    if (stale.size > 0) readAgain(queries);
  });
}

/** Takes what is decided out of the inbox, without asking for the rest again. */
export function leaveInbox(queries: QueryClient, ids: readonly string[]): void {
  const isLeft = ({ approvalId }: ApprovalSummary) => !ids.includes(approvalId);
  const later = queries.getQueryData<ApprovalSummary[]>(['approvals-later']) ?? [];
  const laterLeft = later.filter(isLeft);
  if (laterLeft.length < later.length) queries.setQueryData(['approvals-later'], laterLeft);
  queries.setQueryData<ApprovalPage>(['approvals'], (page) => {
    if (!page) return page;
    const items = page.items.filter(isLeft);
    const gone = page.items.length - items.length + later.length - laterLeft.length;
    return { ...page, items, total: page.total - gone };
  });
}
