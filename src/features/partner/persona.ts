import { type Buyer, weakestFirst, type Metric, METRICS } from './confidence-update.js';
import {
  directionOf,
  stageOf,
  type BuyerContextView,
  type MetricConfidence,
  type MetricTrend,
  type PartnerAvatar,
  type PartnerIntelligence,
  type PartnerPersona,
  type RecentUpdate,
} from './partner.dto.js';

/** Where the buyers stand. */
export interface BuyerFacts {
  /** Null until there was an update. */
  persona: {
    buyers: number;
    /** 0 to 1: the mean over the buyers. */
    confidence: number;
    /** Updates ever accepted. */
    updates: number;
    /** Unix milliseconds. */
    lastEventAt: number;
  } | null;
  metrics: MetricConfidence[];
  /** The 50 of whom something was told last. */
  profiles: (Buyer & { buyerId: string })[];
}

/** What came in within the last 24 hours and 7 days, with the sums of what it changed, and what came last. */
export interface UpdateFacts {
  windows: { metric: Metric; updates24h: number; updates7d: number; delta24h: number; delta7d: number }[];
  recent: RecentUpdate[];
}

/** The persona now: all buyers taken together. */
export function avatarOf({ persona, metrics }: BuyerFacts): PartnerAvatar {
  const confidence = rounded(persona?.confidence ?? null);
  const ranked = weakestFirst(metrics);
  return {
    confidence,
    stage: confidence === null ? null : stageOf(confidence),
    metrics: metrics
      .toSorted((a, b) => METRICS.indexOf(a.metric) - METRICS.indexOf(b.metric))
      .map((known) => ({ ...known, confidence: rounded(known.confidence) })),
    strongest: ranked.at(-1) ?? null,
    weakest: ranked[0] ?? null,
    buyers: persona?.buyers ?? 0,
    lastEventAt: persona?.lastEventAt ?? null,
  };
}

/** What moves the buyers, and where to. */
export function intelligenceOf(facts: BuyerFacts, { windows, recent }: UpdateFacts): PartnerIntelligence {
  const avatar = avatarOf(facts);
  const total = (count: 'updates24h' | 'updates7d') =>
    windows.reduce((sum, window) => sum + window[count], 0);
  return {
    counts: {
      buyers: avatar.buyers,
      updates: facts.persona?.updates ?? 0,
      updates24h: total('updates24h'),
      updates7d: total('updates7d'),
    },
    topGap: avatar.weakest,
    trends: avatar.metrics.map((known) =>
      trendOf(
        known,
        windows.find(({ metric }) => metric === known.metric),
      ),
    ),
    recent,
    lastEventAt: avatar.lastEventAt,
  };
}

function trendOf(
  { metric, confidence, buyers }: MetricConfidence,
  window: UpdateFacts['windows'][number] | undefined,
): MetricTrend {
  const change7d = rounded((window?.delta7d ?? 0) / buyers);
  return {
    metric,
    confidence,
    direction: directionOf(change7d),
    change24h: rounded((window?.delta24h ?? 0) / buyers),
    change7d,
    updates24h: window?.updates24h ?? 0,
    updates7d: window?.updates7d ?? 0,
  };
}

/** The payload of `GET /context`; empty until the partner has told something. */
export function personaOf(facts: BuyerFacts, updates: UpdateFacts): PartnerPersona {
  if (!facts.persona) return { avatar: null, intelligence: null, lastEventAt: null };
  return {
    avatar: avatarOf(facts),
    intelligence: intelligenceOf(facts, updates),
    lastEventAt: facts.persona.lastEventAt,
  };
}

/** What a capo is told about the buyers (CONTRACT, Context). */
export function buyerContextOf(facts: BuyerFacts): BuyerContextView {
  const { confidence, weakest, buyers } = avatarOf(facts);
  return {
    profiles: facts.profiles.map((profile) => ({
      buyerId: profile.buyerId,
      segment: null,
      stage: stageOf(profile.confidence),
      confidence: rounded(profile.confidence),
      topGap: profile.topGap,
      updatedAt: profile.updatedAt,
    })),
    aggregate: { count: buyers, averageConfidence: confidence, topGap: weakest },
  };
}

/** Four digits: what lies behind them is the error of doubles. */
function rounded(value: number): number;
function rounded(value: number | null): number | null;
function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1e4) / 1e4;
}
