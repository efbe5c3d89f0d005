import type { ConfidenceUpdate, Metric } from './confidence-update.js';

/** The newest that is known of one metric of a buyer. */
export interface KnownMetric {
  metric: Metric;
  /** 0 to 1 */
  confidence: number;
  /** Unix milliseconds. */
  firedAt: number;
}

/** What the metrics of one buyer add up to. */
export interface Buyer {
  /** 0 to 1: the newest `overall`, or the mean of the metrics while there is none. */
  confidence: number;
  /** The weakest metric beside `overall`, which names no gap. */
  topGap: Metric | null;
  /** When the newest was fired, Unix milliseconds. */
  updatedAt: number;
}

/** What an update does to its buyer. */
export interface BuyerChange {
  metric: KnownMetric;
  /** Its confidence before; null when it is new. */
  metricBefore: number | null;
  buyer: Buyer;
  /** The buyer's confidence before; null when the buyer is new. */
  buyerBefore: number | null;
}

/**
 * The change that an update makes to the metrics that are known of its buyer; undefined when a newer one of the same
 * metric came before it. Of two that were fired at once, the one that came later counts.
 */
export function changeOf(
  known: readonly KnownMetric[],
  { metric, newConfidence, firedAt }: Pick<ConfidenceUpdate, 'metric' | 'newConfidence' | 'firedAt'>,
): BuyerChange | undefined {
  const before = known.find((one) => one.metric === metric);
  if (before && before.firedAt > firedAt) return undefined;
  const newest: KnownMetric = { metric, confidence: newConfidence, firedAt };
  return {
    metric: newest,
    metricBefore: before?.confidence ?? null,
    buyer: buyerOf([...known.filter((one) => one !== before), newest]),
    buyerBefore: known.length === 0 ? null : buyerOf(known).confidence,
  };
}

/** @param metrics at least one */
function buyerOf(metrics: readonly KnownMetric[]): Buyer {
  const sorted = metrics.toSorted((a, b) => a.metric.localeCompare(b.metric));
  const mean = sorted.reduce((sum, { confidence }) => sum + confidence, 0) / sorted.length;
  return {
    confidence: sorted.find(({ metric }) => metric === 'overall')?.confidence ?? mean,
    topGap: weakestFirst(sorted)[0] ?? null,
    updatedAt: Math.max(...sorted.map(({ firedAt }) => firedAt)),
  };
}

/** The metrics that say where a gap is, the weakest first; `overall` names none. */
export function weakestFirst(metrics: readonly { metric: Metric; confidence: number }[]): Metric[] {
  return metrics
    .filter(({ metric }) => metric !== 'overall')
    .toSorted((a, b) => a.confidence - b.confidence || a.metric.localeCompare(b.metric))
    .map(({ metric }) => metric);
}
