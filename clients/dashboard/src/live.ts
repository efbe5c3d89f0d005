import type { FeedEvent } from '@consigliere/sdk';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { client, endsSession, lock } from './session.js';

export type Connection = 'connecting' | 'live' | 'lost';

/** The one tab that holds this lock reads the stream and tells the others. */
const LOCK = 'consigliere-feed';

/** Keeps what is shown as it is at the service, by one stream for all tabs. Answers the state of the connection. */
export function useLive(): Connection {
  const queries = useQueryClient();
  const [connection, setConnection] = useState<Connection>('connecting');
  useEffect(() => {
    const ended = new AbortController();
    const channel = new BroadcastChannel(LOCK);
    /** The last entry that this tab knows of: where it goes on when it becomes the one that reads. */
    let seen: number | undefined;
    const tell = (entry: FeedEvent) => {
      seen = entry.seq;
      patch(queries, entry);
    };
    channel.addEventListener('message', ({ data }: MessageEvent<FeedEvent>) => tell(data));
    const onFailure = (error: unknown) => {
      if (ended.signal.aborted) return;
      setConnection('lost');
      if (endsSession(error)) lock();
    };
    const read = async () => {
      for await (const entry of client.feed.stream({ signal: ended.signal, lastEventId: seen })) {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin, that of the page
        channel.postMessage(entry);
        tell(entry);
      }
    };
    // What happens while the page is being loaded comes behind this entry.
    client.feed
      .list({ limit: 1 }, { signal: ended.signal })
      .then(({ items }) => {
        seen ??= items[0]?.seq;
        setConnection('live');
        return navigator.locks.request(LOCK, { signal: ended.signal }, read);
      })
      .catch(onFailure);
    return () => {
      ended.abort();
      channel.close();
    };
  }, [queries]);
  return connection;
}

/** Entries that come together have what they changed read again once. */
const TOGETHER_MS = 300;
const stale = new Set<string>();

/** What an entry may have changed is read again, where it is shown. */
function patch(queries: QueryClient, { action, directiveId }: FeedEvent): void {
  if (stale.size === 0) {
    setTimeout(() => {
      const keys = [...stale];
      stale.clear();
      for (const key of keys) void queries.invalidateQueries({ queryKey: [key] });
    }, TOGETHER_MS);
  }
  const add = (...keys: string[]) => keys.forEach((key) => stale.add(key));
  const about = action.split('.', 1)[0]!;
  // Queries of the set-up are named as the entries about them are; `one_` is what is gone once it is deleted.
  add('feed', about, `one_${about}`);
  // A draft that became ready is told of its directive, and decides what can be done with its approval.
  if (about === 'approval' || directiveId !== null) add('approvals', 'approval', 'directives', 'directive');
  if (about === 'guardian' || about === 'kill') add('guardian', 'approvals', 'approval');
  if (about === 'escalation') add('escalations');
  if (about === 'token') add('agent', 'tokens');
  if (about === 'invite' || about === 'member') add('member', 'team', 'notifications');
}
