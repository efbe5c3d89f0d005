import { APIError, ConnectionError, RateLimitError } from '@consigliere/sdk';
import { onlineManager } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';

/** Why nothing is read at the moment, and until when. */
export interface Held {
  why: 'limit' | 'connection';
  until: number;
}

/** Between two looks at a service that does not answer. */
const LOOK_AGAIN_MS = 3_000;
/** Codes of a service, or of a proxy before it, that will be there again. */
const AWAY = new Set([502, 503, 504]);

let held: Held | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

// Whether the service can be asked is known here, and not by the network of this machine.
onlineManager.setEventListener(() => undefined);

/**
 * Holds all reading back for as long as a failure asks for. What was being read waits and goes on; what is shown stays.
 * @returns false for a failure that would come again
 */
export function holdFor(error: unknown): boolean {
  const wait = waitOf(error);
  if (wait === undefined) return false;
  const until = Date.now() + wait;
  if (held && held.until >= until) return true;
  become({ why: error instanceof RateLimitError ? 'limit' : 'connection', until });
  clearTimeout(timer);
  timer = setTimeout(() => become(undefined), wait);
  return true;
}

/** The next person waits for nothing that another one was refused. */
export function endHold(): void {
  clearTimeout(timer);
  if (held) become(undefined);
}

export function useHeld(): Held | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => held,
  );
}

/** After how many milliseconds it is worth trying again; undefined: never. */
export function waitOf(error: unknown): number | undefined {
  if (error instanceof RateLimitError) return (error.retryAfter ?? 60) * 1_000;
  const isAway = error instanceof ConnectionError || (error instanceof APIError && AWAY.has(error.status));
  return isAway ? LOOK_AGAIN_MS : undefined;
}

/** Told when the service answers again. */
const whenBack = new Set<() => void>();

export function tellIsBack(): void {
  for (const listener of whenBack) listener();
}

/** Whether the service, which this failure could not reach, answers again. */
export function useIsBack(error: Error): boolean {
  const [overcome, setOvercome] = useState<Error>();
  useEffect(() => {
    if (waitOf(error) === undefined || error instanceof RateLimitError) return undefined;
    const listener = () => setOvercome(error);
    whenBack.add(listener);
    return () => void whenBack.delete(listener);
  }, [error]);
  return overcome === error;
}

function become(next: Held | undefined): void {
  held = next;
  onlineManager.setOnline(next === undefined);
  for (const listener of listeners) listener();
}
