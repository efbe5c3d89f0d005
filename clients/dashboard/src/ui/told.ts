import { useSyncExternalStore } from 'react';

/** So long it is shown. */
const SHOWN_MS = 10_000;

let told = '';
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Says what has just been done, in every view, until the next thing or for a while. */
export function tell(sentence: string): void {
  told = sentence;
  clearTimeout(timer);
  if (sentence) timer = setTimeout(() => tell(''), SHOWN_MS);
  for (const listener of listeners) listener();
}

/** What was said last; empty where there is nothing to say. */
export function useTold(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => told,
  );
}
