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
  MaxLength,
  Min,
  ValidateBy,
  ValidateNested,
  type ValidationArguments,
} from 'class-validator';
import { isConsistent, type Metric, METRICS } from './confidence-update.js';
import type { Direction, Stage } from './interpretation.js';

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
export class SourceServiceRef {
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  table!: string;

  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  id!: string;
}

/** Body of `POST /partner/induction`: one signed confidence update (SPECIFICATION, Events). */
export class ConfidenceUpdateBody {
  /** The workspace that receives the update. */
  @IsString()
  @MaxLength(64)
  workspaceId!: string;

  /** The entitlement that is updated: one buyer. */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  customerEntitlementId!: string;

  /** The target that produced the update. */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  partnerTargetId!: string;

  /** The partner's name for this update: however often it is sent, it has one effect. */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  partnerEventId!: string;

  /** What the confidence is about. */
  @IsIn(METRICS)
  metric!: Metric;

  /** The signed change, -1 to 1. */
  @IsNumber()
  @Min(-1)
  @Max(1)
  delta!: number;

  /** 0 to 1. With `priorConfidence`, it equals `priorConfidence + delta` within 0.01. */
  @IsNumber()
  @Min(0)
  @Max(1)
  @FitsPriorAndDelta()
  newConfidence!: number;

  /** 0 to 1 */
  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  priorConfidence?: number | null;

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => SourceServiceRef)
  sourceServiceRef?: SourceServiceRef | null;

  /** Unix milliseconds, at most 5 minutes from the time of the service. */
  @IsInt()
  @Min(0)
  firedAt!: number;
}

export class InductionAnswer {
  accepted!: boolean;
  /** True when the same update was accepted before; nothing has happened a second time. */
  duplicate!: boolean;
  partnerEventId!: string;
  /** The signal that the update raised. */
  signalId!: string;
}

/** Where one metric stands, over all buyers that it is known of. */
export class MetricConfidence {
  metric!: Metric;
  /** 0 to 1: the mean over these buyers. */
  confidence!: number;
  buyers!: number;
}

/** Who the buyers are by now, taken together (`GET /partner/avatar`). */
export class PartnerAvatar {
  /** 0 to 1: the mean over all buyers; null while none is known. */
  confidence!: number | null;
  /** What the confidence stands for: awareness, interest, evaluation or decision. */
  stage!: Stage | null;
  /** The known metrics, each with its mean. */
  metrics!: MetricConfidence[];
  /** The metric with the highest mean, beside `overall`. */
  strongest!: Metric | null;
  /** The metric with the lowest mean, beside `overall`. */
  weakest!: Metric | null;
  buyers!: number;
  /** When the newest update was fired, Unix milliseconds. */
  lastEventAt!: number | null;
}

/** How much was told. */
export class PartnerCounts {
  buyers!: number;
  /** Updates ever accepted. */
  updates!: number;
  updates24h!: number;
  updates7d!: number;
}

/** Where one metric goes. */
export class MetricTrend {
  metric!: Metric;
  /** 0 to 1: the mean over the buyers. */
  confidence!: number;
  /** rising, falling or steady, by the change of the last 7 days */
  direction!: Direction;
  /** How far the updates of the last 24 hours moved the mean: the sum of their changes, per buyer. */
  change24h!: number;
  /** The same for the last 7 days. */
  change7d!: number;
  updates24h!: number;
  updates7d!: number;
}

export class RecentUpdate {
  partnerEventId!: string;
  buyerId!: string;
  metric!: Metric;
  delta!: number;
  /** 0 to 1 */
  newConfidence!: number;
  /** Unix milliseconds. */
  firedAt!: number;
}

/** What moves the buyers (`GET /partner/intelligence`). */
export class PartnerIntelligence {
  counts!: PartnerCounts;
  /** The metric that holds the buyers back most: the one with the lowest mean. */
  topGap!: Metric | null;
  /** One for each known metric. */
  trends!: MetricTrend[];
  /** The 20 updates that came last, the newest first. */
  recent!: RecentUpdate[];
  /** When the newest update was fired, Unix milliseconds. */
  lastEventAt!: number | null;
}

/** What the partner persona service has told, as `GET /context` has it; null before the first update. */
export class PartnerPersona {
  avatar!: PartnerAvatar | null;
  intelligence!: PartnerIntelligence | null;
  /** Unix milliseconds. */
  lastEventAt!: number | null;
}

export class BuyerProfileView {
  /** The customer entitlement of the updates. */
  buyerId!: string;
  /** Null: no update names a segment. */
  segment!: string | null;
  /** awareness, interest, evaluation or decision */
  stage!: Stage | null;
  /** 0 to 1: the newest `overall`, or the mean of the metrics while there is none. */
  confidence!: number | null;
  /** The buyer's weakest metric beside `overall`. */
  topGap!: Metric | null;
  /** Unix milliseconds. */
  updatedAt!: number;
}

export class BuyerAggregate {
  count!: number;
  /** 0 to 1 */
  averageConfidence!: number | null;
  /** The metric with the lowest mean over all buyers. */
  topGap!: Metric | null;
}

/** The buyers: the 50 of whom something was told last, and all taken together. */
export class BuyerContextView {
  profiles!: BuyerProfileView[];
  aggregate!: BuyerAggregate;
}
