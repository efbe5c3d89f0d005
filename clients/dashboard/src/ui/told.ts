import { useSyncExternalStore } from 'react';
import { keyOfTab, onSessionChange, sessionNow } from '../session.js';

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

/** The same, and to a person whose page was locked meanwhile once they are back. */
export function tellLater(sentence: string): void {
  const { state } = sessionNow();
  if (state === 'open') tell(sentence);
  else if (state === 'locked') sessionStorage.setItem(keyOfTab('told'), sentence);
}

onSessionChange(() => {
  const left = sessionNow().state === 'open' && sessionStorage.getItem(keyOfTab('told'));
  if (!left) return;
  sessionStorage.removeItem(keyOfTab('told'));
  tell(left);
});

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
