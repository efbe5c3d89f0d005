/** A fixed window that a request counts in. */
export interface Window {
  /** Who or what is counted, with the name of the window: `route directive 203.0.113.7`. */
  key: string;
  policy: 'route' | 'tier-minute' | 'tier-day';
  limit: number;
  windowSeconds: number;
  /** Of an agent's request: what the tier allows to the whole workspace. */
  tierLimit?: number;
}

/** Where a window stands after the request was counted. */
export interface WindowState extends Window {
  hits: number;
  /** When the window ends, Unix milliseconds. */
  resetAt: number;
}

/** The end of the fixed window that `now` lies in; windows start at whole multiples of their length. */
export function windowEnd(now: number, windowSeconds: number): number {
  const length = windowSeconds * 1000;
  return (Math.floor(now / length) + 1) * length;
}

export function remaining(state: WindowState): number {
  return Math.max(0, state.limit - state.hits);
}

export function isExceeded(state: WindowState): boolean {
  return state.hits > state.limit;
}

/** The window to show in the headers: an exceeded one first, else the one with the least left. */
export function tightest(states: readonly WindowState[]): WindowState | undefined {
  return [...states].toSorted(
    (a, b) =>
      Number(isExceeded(b)) - Number(isExceeded(a)) ||
      remaining(a) - remaining(b) ||
      // Of two that are exceeded, the later reset is the one a client has to wait for.
      b.resetAt - a.resetAt,
  )[0];
}

/** The three headers of SPECIFICATION Limits 1; the reset is Unix time in seconds. */
export function limitHeaders(state: WindowState): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(state.limit),
    'X-RateLimit-Remaining': String(remaining(state)),
    'X-RateLimit-Reset': String(Math.ceil(state.resetAt / 1000)),
  };
}

/** Whole seconds until the window ends, at least one. */
export function retryAfterSeconds(state: WindowState, now: number): number {
  return Math.max(1, Math.ceil((state.resetAt - now) / 1000));
}
