import type { Stretch } from './kpi-calendar.js';

/** What is counted for the tiles; app.fold_tallies names the same. */
export type FigureKind = 'team_revenue' | 'executed' | 'pending' | 'cost' | 'evals';

/** A stretch of time over which one kind is added up. */
export interface Window extends Stretch {
  kind: FigureKind;
  name: string;
}

/** Part of a span that is whole hours, or the quarters of an hour that a border cuts. */
export interface Piece extends Stretch {
  kind: FigureKind;
  span: number;
  minutes: 15 | 60;
}

/** How the sums over some windows are put together. */
export interface Reading {
  /** Every beginning and end of a window, ascending: what lies between two of them, a span, is in the same windows. */
  borders: number[];
  /** What is read, as far back as the windows of each kind go. */
  pieces: Piece[];
  /** Each window as spans, counted from one as `width_bucket` does: from `first` to before `end`. */
  windows: { kind: FigureKind; first: number; end: number }[];
}

const HOUR_MS = 3_600_000;

export function readingOf(windows: readonly Window[]): Reading {
  const borders = [...new Set(windows.flatMap(({ from, to }) => [from, to]))].toSorted((a, b) => a - b);
  const numberOf = new Map(borders.map((at, index) => [at, index + 1]));
  const since = new Map<FigureKind, number>();
  for (const { kind, from } of windows) since.set(kind, Math.min(from, since.get(kind) ?? from));
  const spans = borders.slice(0, -1).map((from, index) => ({ from, to: borders[index + 1]! }));
  return {
    borders,
    pieces: [...since].flatMap(([kind, begin]) =>
      spans.flatMap((span, index) =>
        span.from < begin ? [] : piecesOf(span).map((piece) => ({ kind, span: index + 1, ...piece })),
      ),
    ),
    windows: windows.map(({ kind, from, to }) => ({
      kind,
      first: numberOf.get(from)!,
      end: numberOf.get(to)!,
    })),
  };
}

function piecesOf({ from, to }: Stretch): Pick<Piece, 'minutes' | 'from' | 'to'>[] {
  const begin = Math.ceil(from / HOUR_MS) * HOUR_MS;
  const end = Math.floor(to / HOUR_MS) * HOUR_MS;
  const pieces: Pick<Piece, 'minutes' | 'from' | 'to'>[] =
    begin > end
      ? [{ minutes: 15, from, to }]
      : [
          { minutes: 15, from, to: begin },
          { minutes: 60, from: begin, to: end },
          { minutes: 15, from: end, to },
        ];
  return pieces.filter((piece) => piece.from < piece.to);
}
