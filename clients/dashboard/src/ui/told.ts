import { useSyncExternalStore } from 'react';
import { keyOfTab, onSessionChange, sessionNow } from '../session.js';

/** So long it is shown; what offers something to do, longer. */
const SHOWN_MS = 10_000;
const OFFERED_MS = 60_000;

/** What was said last, and what may be done next. */
interface Told {
  sentence: string;
  next?: Next | undefined;
}
interface Next {
  href: string;
  verb: string;
}

const NOTHING: Told = { sentence: '' };

let told = NOTHING;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Says what has just been done, in every view, until the next thing or for a while. */
export function tell(sentence: string, next?: Next): void {
  told = { sentence, next };
  clearTimeout(timer);
  if (sentence) timer = setTimeout(() => tell(''), next ? OFFERED_MS : SHOWN_MS);
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

/** What was said last; an empty sentence where there is nothing to say. */
export function useTold(): Told {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => told,
  );
}
