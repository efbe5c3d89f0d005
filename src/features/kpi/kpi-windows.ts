import type { Stretch } from './kpi-calendar.js';

/** What is counted for the tiles; the database counts it by app.counts_of. */
export type FigureKind = 'team_revenue' | 'executed' | 'pending' | 'cost' | 'evals' | 'actions';

/** A stretch of time over which one kind is added up. */
export interface Window extends Stretch {
  kind: FigureKind;
  name: string;
}

/** How the sums over some windows are put together; each begins and ends with a quarter of an hour. */
export interface Reading {
  /** Every beginning and end of a window, ascending: what lies between two of them is in the same windows. */
  borders: number[];
  /** Since when each kind is read. */
  kinds: { kind: FigureKind; since: number }[];
  /** A window as the stretches between borders, counted from one as `width_bucket` does: from `first` to before `end`. */
  stretches: { kind: FigureKind; first: number; end: number }[];
}

export function readingOf(windows: readonly Window[]): Reading {
  const borders = [...new Set(windows.flatMap(({ from, to }) => [from, to]))].toSorted((a, b) => a - b);
  const numberOf = new Map(borders.map((at, index) => [at, index + 1]));
  const since = new Map<FigureKind, number>();
  for (const { kind, from } of windows) since.set(kind, Math.min(from, since.get(kind) ?? from));
  return {
    borders,
    kinds: [...since].map(([kind, from]) => ({ kind, since: from })),
    stretches: windows.map(({ kind, from, to }) => ({
      kind,
      first: numberOf.get(from)!,
      end: numberOf.get(to)!,
    })),
  };
}
