import type { Sums, WindowSums } from './workspace-metrics.dto.js';

export type SumsByCurrency = Readonly<Record<string, WindowSums>>;

const NOTHING: WindowSums = { h24: 0, d7: 0, d30: 0 };

/** The sums in this currency, the others beside them: no rate of exchange is known here. */
export function sumsIn(currency: string, all: SumsByCurrency): Sums {
  const { [currency]: own = NOTHING, ...byCurrency } = all;
  return { currency, ...own, byCurrency };
}
