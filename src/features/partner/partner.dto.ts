import { IntersectionType, PickType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
  type ValidationArguments,
} from 'class-validator';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { UNIX_MILLISECONDS } from '../../platform/kernel/decorators.js';
import { type Metric, isConsistent, METRICS } from './confidence-update.js';

/** How far a buyer is on the way to a decision. */
type Stage = 'awareness' | 'interest' | 'evaluation' | 'decision';

/** What a confidence from 0 to 1 stands for: each stage is a quarter. */
export function stageOf(confidence: number): Stage {
  if (confidence < 0.25) return 'awareness';
  if (confidence < 0.5) return 'interest';
  return confidence < 0.75 ? 'evaluation' : 'decision';
}

type Direction = 'rising' | 'falling' | 'steady';

/** Less than a point in a week is no direction. */
const STEADY = 0.01;

/** Where a confidence goes that has changed by so much in a week. */
export function directionOf(change: number): Direction {
  if (Math.abs(change) < STEADY) return 'steady';
  return change > 0 ? 'rising' : 'falling';
}

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
  /** When the newest update was fired, Unix milliseconds; null before the first one. @example 1771402200000 */
  lastEventAt!: number | null;
}

/** How much was told. */
class PartnerCounts {
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
  /** How far the updates of the last 24 hours changed the mean: the sum of their changes, per buyer. @example -0.2 */
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
  /** The metric that holds the buyers back most: the one with the lowest mean. Null: none is known. @example 'trust' */
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

class BuyerProfileView {
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

class BuyerAggregate {
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

const ONE_LINE = /^\P{Cc}+$/u;
const SAYS_SOMETHING = {
  message: '$property must be text of at least one character, without control characters',
};

/** Refuses a confidence that the two other figures contradict; one that is no number is the fault of its own rule. */
const FitsPriorAndDelta = () =>
  ValidateBy({
    name: 'fitsPriorAndDelta',
    validator: {
      validate: (newConfidence: unknown, { object }: ValidationArguments) => {
        const { priorConfidence, delta } = object as { priorConfidence?: unknown; delta?: unknown };
        const figures = [priorConfidence, delta, newConfidence];
        if (!figures.every((figure) => typeof figure === 'number')) return true;
        return isConsistent(...(figures as [number, number, number]));
      },
      defaultMessage: () => 'newConfidence must equal priorConfidence + delta within 0.01',
    },
  });

/** The record that an update comes from. */
class SourceServiceRef {
  /** The table of the record, at most 200 characters. @example 'calls' */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  table!: string;

  /** The id of the record, at most 200 characters. @example 'call-42' */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  id!: string;
}

/** Body of `POST /partner/induction`: one signed confidence update (SPECIFICATION, Events). */
export class ConfidenceUpdateBody {
  /** The workspace that receives the update. @example 'wks_01kerpxzm02h8rz4dtvnsqab5g' */
  @IsString()
  @MaxLength(64)
  workspaceId!: string;

  /** The entitlement that is updated: one buyer. At most 200 characters. @example 'acme-jane' */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  customerEntitlementId!: string;

  /** The target that produced the update, at most 200 characters. @example 'target-3' */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  partnerTargetId!: string;

  /**
   * The partner's name for this update, at most 200 characters: however often it is sent, it has one effect.
   * @example 'pev-2026-02-18-0001'
   */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  partnerEventId!: string;

  /** What the confidence is about. @example 'trust' */
  @IsIn(METRICS)
  metric!: Metric;

  /** The signed change, -1 to 1. @example -0.2 */
  @IsNumber()
  @Min(-1)
  @Max(1)
  delta!: number;

  /**
   * The confidence from now on, 0 to 1. With `priorConfidence`, it equals `priorConfidence + delta` within 0.01.
   * @example 0.45
   */
  @IsNumber()
  @Min(0)
  @Max(1)
  @FitsPriorAndDelta()
  newConfidence!: number;

  /** The confidence before, 0 to 1. @example 0.65 */
  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  priorConfidence?: number | null;

  /** The record that the update comes from. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => SourceServiceRef)
  sourceServiceRef?: SourceServiceRef | null;

  /** When the update was fired, Unix milliseconds, at most 5 minutes from the time of the service. @example 1771402200000 */
  @IsInt(UNIX_MILLISECONDS)
  @Min(0)
  firedAt!: number;
}

export class InductionAnswer {
  /** Always true. @example true */
  accepted!: boolean;
  /** True when the same update was accepted before; nothing has happened a second time. @example false */
  duplicate!: boolean;
  /** The partner's name for the update. @example 'pev-2026-02-18-0001' */
  partnerEventId!: string;
  /** The signal that the update raised. @example 'sig_01khqws0y0g13zyp5vc6y27gyg' */
  signalId!: string;
}

/** The secret that the partner persona service signs its updates with. */
export class PartnerSecretView {
  /** The secret that is in force. @example '3q2-7w4XyZ0aBcDeFgHiJkLmNoPqRsTuVwXyZ012345' */
  secret!: string;
  /** When it was put in force, Unix milliseconds. @example 1768209000000 */
  setAt!: number;
  /** Until when the secret before this one is accepted as well, Unix milliseconds; null: there was none, or its time is over. */
  previousUntil!: number | null;
}
