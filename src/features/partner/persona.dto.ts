import { IntersectionType, PickType } from '@nestjs/swagger';
import type { Metric } from './confidence-update.js';
import type { Direction, Stage } from './interpretation.js';

/** Where one metric stands, over all buyers that it is known of. */
export class MetricConfidence {
  /** The metric. @example 'trust' */
  metric!: Metric;
  /** The mean over these buyers, 0 to 1. @example 0.45 */
  confidence!: number;
  /** How many buyers it is known of. @example 1 */
  buyers!: number;
}

/** Who the buyers are by now, taken together (`GET /partner/avatar`). */
export class PartnerAvatar {
  /** The mean over all buyers, 0 to 1; null while none is known. @example 0.45 */
  confidence!: number | null;
  /**
   * What the confidence stands for: awareness, interest, evaluation or decision. Null while no buyer is known.
   * @example 'interest'
   */
  stage!: Stage | null;
  /** The known metrics, each with its mean. */
  metrics!: MetricConfidence[];
  /** The metric with the highest mean, beside `overall`; null: none is known. @example 'trust' */
  strongest!: Metric | null;
  /** The metric with the lowest mean, beside `overall`; null: none is known. @example 'trust' */
  weakest!: Metric | null;
  /** How many buyers are known. @example 1 */
  buyers!: number;
  /**
   * When the newest update was fired, Unix milliseconds; null before the first one.
   * @example 1771402200000
   */
  lastEventAt!: number | null;
}

/** How much was told. */
export class PartnerCounts {
  /** Buyers that something is known of. @example 1 */
  buyers!: number;
  /** Updates ever accepted. @example 1 */
  updates!: number;
  /** Updates of the last 24 hours. @example 1 */
  updates24h!: number;
  /** Updates of the last 7 days. @example 1 */
  updates7d!: number;
}

/** Where one metric goes. */
export class MetricTrend extends IntersectionType(
  PickType(MetricConfidence, ['metric', 'confidence']),
  PickType(PartnerCounts, ['updates24h', 'updates7d']),
) {
  /** rising, falling or steady, by the change of the last 7 days @example 'falling' */
  direction!: Direction;
  /**
   * How far the updates of the last 24 hours changed the mean: the sum of their changes, per buyer.
   * @example -0.2
   */
  change24h!: number;
  /** The same for the last 7 days. @example -0.2 */
  change7d!: number;
}

export class RecentUpdate {
  /** The partner's name for the update. @example 'pev-2026-02-18-0001' */
  partnerEventId!: string;
  /** The customer entitlement of the update. @example 'acme-jane' */
  buyerId!: string;
  /** The metric. @example 'trust' */
  metric!: Metric;
  /** The signed change. @example -0.2 */
  delta!: number;
  /** The confidence from then on, 0 to 1. @example 0.45 */
  newConfidence!: number;
  /** When it was fired, Unix milliseconds. @example 1771402200000 */
  firedAt!: number;
}

/** What changes the buyers (`GET /partner/intelligence`). */
export class PartnerIntelligence extends PickType(PartnerAvatar, ['lastEventAt']) {
  /** How much was reported. */
  counts!: PartnerCounts;
  /**
   * The metric that holds the buyers back most: the one with the lowest mean. Null: none is known.
   * @example 'trust'
   */
  topGap!: Metric | null;
  /** One for each known metric. */
  trends!: MetricTrend[];
  /** The 20 updates that came last, the newest first. */
  recent!: RecentUpdate[];
}

/** What the partner persona service has told, as `GET /context` has it; null before the first update. */
export class PartnerPersona extends PickType(PartnerAvatar, ['lastEventAt']) {
  /** Who the buyers are, taken together; null before the first update. */
  avatar!: PartnerAvatar | null;
  /** What changes the buyers; null before the first update. */
  intelligence!: PartnerIntelligence | null;
}

export class BuyerProfileView {
  /** The customer entitlement of the updates. @example 'acme-jane' */
  buyerId!: string;
  /** Null: no update names a segment. */
  segment!: string | null;
  /** awareness, interest, evaluation or decision; null while no confidence is known @example 'interest' */
  stage!: Stage | null;
  /** The newest `overall`, or the mean of the metrics while there is none; 0 to 1. @example 0.45 */
  confidence!: number | null;
  /** The buyer's weakest metric beside `overall`; null: none is known. @example 'trust' */
  topGap!: Metric | null;
  /** When the newest update was fired, Unix milliseconds. @example 1771402200000 */
  updatedAt!: number;
}

export class BuyerAggregate {
  /** How many buyers there are. @example 1 */
  count!: number;
  /** The mean over all buyers, 0 to 1; null while none is known. @example 0.45 */
  averageConfidence!: number | null;
  /** The metric with the lowest mean over all buyers; null: none is known. @example 'trust' */
  topGap!: Metric | null;
}

/** The buyers: the 50 of whom something was told last, and all taken together. */
export class BuyerContextView {
  /** The 50 buyers of whom something was reported last. */
  profiles!: BuyerProfileView[];
  /** All buyers taken together. */
  aggregate!: BuyerAggregate;
}
