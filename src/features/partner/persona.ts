import { type Metric, METRICS } from './confidence-update.js';
import { directionOf, stageOf } from './interpretation.js';
import type {
  BuyerContextView,
  BuyerProfileView,
  MetricConfidence,
  MetricTrend,
  PartnerAvatar,
  PartnerIntelligence,
  PartnerPersona,
  RecentUpdate,
} from './partner.dto.js';

/** Where the buyers stand. */
export interface BuyerFacts {
  count: number;
  averageConfidence: number | null;
  /** Updates ever accepted. */
  updates: number;
  /** Unix milliseconds. */
  lastEventAt: number | null;
  /** The 50 of whom something was told last. */
  profiles: Pick<BuyerProfileView, 'buyerId' | 'confidence' | 'topGap' | 'updatedAt'>[];
  metrics: MetricConfidence[];
}

/** What came in lately. */
export interface UpdateFacts {
  windows: Pick<MetricTrend, 'metric' | 'change24h' | 'change7d' | 'updates24h' | 'updates7d'>[];
  recent: RecentUpdate[];
}

/** The persona now: all buyers taken together. */
export function avatarOf(facts: BuyerFacts): PartnerAvatar {
  const confidence = rounded(facts.averageConfidence);
  const ranked = rankedMetrics(facts);
  return {
    confidence,
    stage: confidence === null ? null : stageOf(confidence),
    metrics: facts.metrics
      .toSorted((a, b) => METRICS.indexOf(a.metric) - METRICS.indexOf(b.metric))
      .map((known) => ({ ...known, confidence: rounded(known.confidence) })),
    strongest: ranked.at(-1) ?? null,
    weakest: ranked[0] ?? null,
    buyers: facts.count,
    lastEventAt: facts.lastEventAt,
  };
}

/** What moves the buyers, and where to. */
export function intelligenceOf(buyers: BuyerFacts, { windows, recent }: UpdateFacts): PartnerIntelligence {
  const total = (count: 'updates24h' | 'updates7d') =>
    windows.reduce((sum, window) => sum + window[count], 0);
  return {
    counts: {
      buyers: buyers.count,
      updates: buyers.updates,
      updates24h: total('updates24h'),
      updates7d: total('updates7d'),
    },
    topGap: topGapOf(buyers),
    trends: avatarOf(buyers).metrics.map(({ metric, confidence }) => {
      const window = windows.find((one) => one.metric === metric);
      const change7d = rounded(window?.change7d ?? 0);
      return {
        metric,
        confidence,
        direction: directionOf(change7d),
        change24h: rounded(window?.change24h ?? 0),
        change7d,
        updates24h: window?.updates24h ?? 0,
        updates7d: window?.updates7d ?? 0,
      };
    }),
    recent,
    lastEventAt: buyers.lastEventAt,
  };
}

/** The payload of `GET /context`; empty until the partner has told something. */
export function personaOf(buyers: BuyerFacts, updates: UpdateFacts): PartnerPersona {
  const { lastEventAt } = buyers;
  if (lastEventAt === null) return { avatar: null, intelligence: null, lastEventAt };
  return { avatar: avatarOf(buyers), intelligence: intelligenceOf(buyers, updates), lastEventAt };
}

/** What a capo is told about the buyers (CONTRACT, Context). */
export function buyerContextOf(facts: BuyerFacts): BuyerContextView {
  return {
    profiles: facts.profiles.map(({ buyerId, confidence, topGap, updatedAt }) => ({
      buyerId,
      segment: null,
      stage: confidence === null ? null : stageOf(confidence),
      confidence: rounded(confidence),
      topGap,
      updatedAt,
    })),
    aggregate: {
      count: facts.count,
      averageConfidence: rounded(facts.averageConfidence),
      topGap: topGapOf(facts),
    },
  };
}

function topGapOf(facts: BuyerFacts): Metric | null {
  return rankedMetrics(facts)[0] ?? null;
}

/** The metrics that say where a gap is, the weakest first; `overall` names none. */
function rankedMetrics({ metrics }: BuyerFacts): Metric[] {
  return metrics
    .filter(({ metric }) => metric !== 'overall')
    .toSorted((a, b) => a.confidence - b.confidence || a.metric.localeCompare(b.metric))
    .map(({ metric }) => metric);
}

/** Four digits: what lies behind them is the error of doubles. */
function rounded(value: number): number;
function rounded(value: number | null): number | null;
function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1e4) / 1e4;
}
