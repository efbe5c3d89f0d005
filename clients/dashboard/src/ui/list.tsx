import type { ReactNode } from 'react';
import { Failure } from './failure.js';

interface Read<T> {
  data: T | undefined;
  error: Error | null;
  refetch: () => unknown;
}

/** What was read, or why it is not there yet. */
export function Loaded<T>({ query, children }: { query: Read<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  return <p className="empty">Loading.</p>;
}

/** Rows, or a sentence on why there are none and what comes next. */
export function Rows<T>({
  items,
  empty,
  children,
}: {
  items: readonly T[];
  empty: string;
  children: (item: T) => ReactNode;
}) {
  if (items.length === 0) return <p className="empty">{empty}</p>;
  return <ul className="rows">{items.map(children)}</ul>;
}
