import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';

/** What a confidence can be about (CONTRACT, Partner). */
export const METRICS = [
  'problem_clarity',
  'solution_fit',
  'price_fit',
  'urgency',
  'authority',
  'trust',
  'overall',
] as const;
export type Metric = (typeof METRICS)[number];

/** SPECIFICATION, Limits 5: the replay window of webhooks. */
const FRESH_SECONDS = 300;

/** Confidences are rounded by those who send them. */
const ROUNDING = 0.01;
/** 0.5 + 0.1 - 0.59 is a little more than 0.01 as a double. */
const DOUBLE_ERROR = 1e-9;

/** One update of the partner persona service, as it says it. */
export interface ConfidenceUpdate {
  customerEntitlementId: string;
  partnerTargetId: string;
  partnerEventId: string;
  metric: Metric;
  /** -1 to 1 */
  delta: number;
  /** 0 to 1 */
  newConfidence: number;
  /** 0 to 1 */
  priorConfidence: number | null;
  sourceServiceRef: { table: string; id: string } | null;
  /** Unix milliseconds. */
  firedAt: number;
}

/**
 * True up to 300 seconds from `now`, before or after. Whole seconds are compared, as for outbound events: 301 are
 * refused, however long the request was under way within its second.
 */
export function isFresh(firedAt: number, now: number): boolean {
  return Math.abs(Math.floor(now / 1000) - Math.floor(firedAt / 1000)) <= FRESH_SECONDS;
}

/** Whether the three figures of an update tell one story. */
export function isConsistent(priorConfidence: number, delta: number, newConfidence: number): boolean {
  return Math.abs(priorConfidence + delta - newConfidence) <= ROUNDING + DOUBLE_ERROR;
}

/** Two updates with one hash say the same, however they were written down. */
export function contentHash(update: ConfidenceUpdate): string {
  return sha256(canonicalJson(update));
}

/** A fall of 10 points needs a look, one of 30 somebody at once; that a confidence rises is good to know. */
export function severityOf(delta: number): 'info' | 'warning' | 'critical' {
  if (delta <= -0.3) return 'critical';
  return delta <= -0.1 ? 'warning' : 'info';
}

/** What an update says, for a person: a title of plain text, and a body in Markdown. */
export function wordingOf(update: ConfidenceUpdate): { title: string; body: string } {
  const { customerEntitlementId, metric, delta, newConfidence, priorConfidence } = update;
  const what = metric === 'overall' ? 'Overall confidence' : capitalized(metric.replaceAll('_', ' '));
  const points = Math.round(Math.abs(delta) * 100);
  const now = percent(newConfidence);
  const from = priorConfidence === null ? '' : ` from ${percent(priorConfidence)}`;
  if (points === 0) {
    return {
      title: `${what} of buyer ${customerEntitlementId} stays at ${now}`,
      body: `${what} is at **${now}**.`,
    };
  }
  const moved = delta < 0 ? 'fell' : 'rose';
  return {
    title: `${what} of buyer ${customerEntitlementId} ${moved} to ${now}`,
    body: `${what} ${moved}${from} by ${points} ${points === 1 ? 'point' : 'points'} to **${now}**.`,
  };
}

function percent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

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
